/** What a call took and gave, in a row, with a link to its trace. */
import { href } from "../../state/address.ts";
import { may } from "../../state/session.ts";
import { Icon } from "../../design/icons.tsx";

/** @param facts names and values; those without a value are not shown */
export function PlaygroundFacts({
  facts,
  traceId,
}: {
  readonly facts: readonly (readonly [name: string, value: string | undefined])[];
  readonly traceId: string;
}) {
  return (
    <div class="playground-facts">
      <dl>
        {facts.map(
          ([name, value]) =>
            value !== undefined && (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ),
        )}
      </dl>
      {may("telemetry_read") && (
        <a class="button quiet" href={href(`traces/${traceId}`)}>
          <Icon name="traces" />
          Trace
        </a>
      )}
    </div>
  );
}
