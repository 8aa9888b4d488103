/** The categories for which content can be refused. A vendor's subcategories count as their main category. */
export const contentCategories = ["harassment", "hate", "self-harm", "sexual", "violence", "illicit"] as const;
export type ContentCategory = (typeof contentCategories)[number];
