/** Sets the labels that parsers find in a line, and their errors. */
import { inputLimit } from "@sounding/promql/input-limit";
import { duplicateSuffix, preserveErrorLabel, type EntryLabels } from "./entry-labels.ts";
import type { ParserHints } from "./parser-hints.ts";

/** A label's name, or another one if a stream label or structured metadata has it. */
export function freeName(labels: EntryLabels, name: string): string {
  return labels.isTaken(name) ? name + duplicateSuffix : name;
}

/** What the labels of one line may hold: names of nested objects grow with their depth. */
export const maximumExtractedCharacters = inputLimit({
  area: "LogQL",
  bounds: "Names and values that a parser extracts from one line, together",
  value: 8_000_000,
  unit: "characters",
  error: { instead: "the entry has the label `__error__`" },
});

/** U+FFFD stands for bytes that are not UTF-8; as in Loki, a space replaces it. */
export function withoutReplacements(value: string): string {
  return value.includes("\uFFFD") ? value.replaceAll("\uFFFD", " ") : value;
}

/** @param details null leaves the details as they are */
export function failParser(labels: EntryLabels, hints: ParserHints, error: string, details: string | null): void {
  labels.error = error;
  if (details !== null) labels.errorDetails = details;
  if (hints.preservesErrors) labels.setParsed(preserveErrorLabel, "true");
}
