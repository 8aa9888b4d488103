/** The labels of an entry as templates see them. */
import { compareText } from "@sounding/promql/series/labels";
import { errorDetailsLabel, errorLabel, type EntryLabels } from "./entry-labels.ts";
import type { TemplateData } from "./template/values.ts";

/** The labels as they are when the template reads them. */
export function liveData(labels: EntryLabels): TemplateData {
  return {
    get(name) {
      if (name === errorLabel) return labels.error;
      return name === errorDetailsLabel ? labels.errorDetails : labels.get(name);
    },
    entries: () => [...toMap(labels)].sort(([left], [right]) => compareText(left, right)),
  };
}

/** The labels as they are now. */
export function snapshot(labels: EntryLabels): TemplateData {
  const values = toMap(labels);
  return {
    get: (name) => values.get(name),
    entries: () => [...values].sort(([left], [right]) => compareText(left, right)),
  };
}

function toMap(labels: EntryLabels): Map<string, string> {
  const pairs = labels.pairs();
  const values = new Map<string, string>();
  for (let index = 0; index < pairs.length; index += 2) values.set(pairs[index]!, pairs[index + 1]!);
  return values;
}
