/** Lists the kinds of personal data and secrets that Sounding can find in text. */

export const sensitiveKinds = ["email", "card_number", "phone_number", "iban", "api_key"] as const;
export type SensitiveKind = (typeof sensitiveKinds)[number];
