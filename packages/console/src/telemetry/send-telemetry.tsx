/** What a list of telemetry shows while the organization has none: how to send some. */
import { apiRoot } from "../api/request.ts";
import { CodeBlock } from "../design/code-block.tsx";
import { EmptyState } from "../design/states.tsx";
import type { IconName } from "../design/icons.tsx";
import { WiderRange } from "./wider-range.tsx";

export function SendTelemetry({
  title,
  icon,
  hint,
}: {
  readonly title: string;
  readonly icon: IconName;
  readonly hint: string;
}) {
  const endpoint = apiRoot.href.replace(/\/$/, "");
  return (
    <div class="list-state">
      <EmptyState title={title} icon={icon}>
        <p>{hint}</p>
        <WiderRange />
        <p>Every call through Sounding is recorded. To see your application too, set OpenTelemetry's variables:</p>
        <CodeBlock
          label="environment variables"
          code={`OTEL_EXPORTER_OTLP_ENDPOINT=${endpoint}\nOTEL_EXPORTER_OTLP_HEADERS="Authorization=Bearer YOUR_API_KEY"`}
        />
        <p>To look around first, send an hour of sample telemetry:</p>
        <CodeBlock label="command" code="sounding demo" />
      </EmptyState>
    </div>
  );
}
