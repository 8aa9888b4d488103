/** Code with a button to copy it. */
import { CopyButton } from "./copy-button.tsx";

export function CodeBlock({ code, label }: { readonly code: string; readonly label: string }) {
  return (
    <figure class="code-block">
      <figcaption>
        <span>{label}</span>
        <CopyButton text={code} label={`Copy ${label}`} iconOnly />
      </figcaption>
      <pre tabIndex={0}>
        <code>{code}</code>
      </pre>
    </figure>
  );
}
