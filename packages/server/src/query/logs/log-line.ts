/** The line of a log entry as users see it. */
import { toText } from "../attribute-values.ts";

export interface LineColumns {
  readonly body: string;
  readonly body_type: string;
  readonly event_name: string;
}

/** OpenTelemetry events may have a name and no body. */
export function lineOf({ body, body_type, event_name }: LineColumns): string {
  // The text of an encrypted body may be empty.
  return (body === "" ? "" : toText(body, body_type)) || event_name;
}
