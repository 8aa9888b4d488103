/** The link that opens a chat call in the playground, with its model, messages and parameters. */
import { Icon } from "../../design/icons.tsx";
import { href } from "../../state/address.ts";
import { may } from "../../state/session.ts";

export function PlaygroundLink({ traceId, spanId }: { readonly traceId: string; readonly spanId: string }) {
  if (!may("inference")) return null;
  return (
    <a class="button" href={href("playground/chat", { from_trace: traceId, from_span: spanId })}>
      <Icon name="playground" />
      Open in playground
    </a>
  );
}
