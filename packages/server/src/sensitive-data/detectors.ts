/** The detector of each kind of sensitive data: for guardrails and for telemetry. */
import { apiKeyDetector } from "./api-key.ts";
import { cardNumberDetector } from "./card-number.ts";
import type { Detector } from "./detector.ts";
import { emailDetector } from "./email.ts";
import { ibanDetector } from "./iban.ts";
import type { SensitiveKind } from "./kinds.ts";
import { phoneNumberDetector } from "./phone-number.ts";

export type { Detector, FoundRange } from "./detector.ts";

export const detectors: Readonly<Record<SensitiveKind, Detector>> = {
  email: emailDetector,
  card_number: cardNumberDetector,
  phone_number: phoneNumberDetector,
  iban: ibanDetector,
  api_key: apiKeyDetector,
};
