/** What content can be refused for: the interface's categories. Subcategories of vendors count as their head. */
export const contentCategories = ["harassment", "hate", "self-harm", "sexual", "violence", "illicit"] as const;
export type ContentCategory = (typeof contentCategories)[number];
