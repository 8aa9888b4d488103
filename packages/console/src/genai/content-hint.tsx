/** Says how prompts and answers are recorded, where a model call has none, or why they are hidden. */
import { CopyButton } from "../design/copy-button.tsx";
import { Notice } from "../design/states.tsx";
import { href } from "../state/address.ts";
import { may } from "../state/session.ts";

/** @param project the project of the call */
export function ContentHint({ project }: { readonly project?: string | undefined }) {
  if (!may("content_read"))
    return (
      <Notice>
        Prompts and answers are hidden from you. To see them, you need the permission <code>content_read</code>.
      </Notice>
    );
  // Names with other characters need quotes, which differ between shells.
  const name = project !== undefined && /^[\w.-]+$/.test(project) ? project : "PROJECT";
  const command = `sounding project update ${name} --record-content`;
  return (
    <Notice>
      <p>Prompts and answers were not recorded.</p>
      <p class="small">
        To record those of calls that Sounding serves,{" "}
        {may("admin") ? (
          <a href={href("administration/projects")}>turn on content recording</a>
        ) : (
          "turn on content recording"
        )}{" "}
        for the project:
      </p>
      <p class="content-hint-command">
        <code>{command}</code>
        <CopyButton text={command} label="Copy command" iconOnly />
      </p>
      <p class="small">
        Applications that send their own spans have a setting of their instrumentation, such as{" "}
        <code>OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true</code>.
      </p>
    </Notice>
  );
}
