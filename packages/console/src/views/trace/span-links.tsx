/** The links of a span to spans of this and other traces. */
import { formatCount } from "../../design/format.ts";
import { href } from "../../state/address.ts";
import { AttributeList } from "./attribute-table.tsx";
import { Section } from "./section.tsx";
import { hexId } from "./tempo-json.ts";
import type { TraceSpan } from "./trace-model.ts";

const mostLinks = 100;

export function SpanLinks({ span: { raw }, traceId }: { readonly span: TraceSpan; readonly traceId: string }) {
  const links = raw.links ?? [];
  if (links.length === 0) return null;
  return (
    <Section title="Links" count={links.length}>
      {links.slice(0, mostLinks).map((link, index) => {
        const linked = hexId(link.traceId);
        const span = hexId(link.spanId);
        return (
          <div key={index} class="trace-event">
            <a class="mono" href={href(`traces/${linked}`, { span })}>
              {linked === traceId ? `Span ${span}` : `Trace ${linked}`}
            </a>
            <AttributeList attributes={link.attributes ?? []} />
          </div>
        );
      })}
      {links.length > mostLinks && (
        <p class="small muted">
          These are the first {mostLinks} of {formatCount(links.length)} links; the raw JSON has all of them.
        </p>
      )}
    </Section>
  );
}
