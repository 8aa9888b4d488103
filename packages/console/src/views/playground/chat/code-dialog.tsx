/** Shows and copies the code that sends the request of an answer. */
import { signal } from "@preact/signals";
import { apiRoot } from "../../../api/request.ts";
import { CopyButton } from "../../../design/copy-button.tsx";
import { Dialog } from "../../../design/dialog.tsx";
import type { ChatBody } from "./conversation.ts";
import { languages, requestCode, shortenImages, type Language } from "./request-code.ts";

/** Stays the same from answer to answer. */
const language = signal<Language>("curl");

export function CodeDialog({ body, onClose }: { readonly body: ChatBody; readonly onClose: () => void }) {
  const code = requestCode(language.value, body, apiRoot.href);
  return (
    <Dialog title="Code of this request" onClose={onClose} wide>
      <div class="row">
        {languages.map(({ id, title }) => (
          <button
            key={id}
            type="button"
            class="button"
            aria-pressed={language.value === id}
            onClick={() => (language.value = id)}
          >
            {title}
          </button>
        ))}
        <span class="spread">
          <CopyButton text={code} label="Copy the code" />
        </span>
      </div>
      <pre class="chat-code" tabIndex={0} dir="ltr">
        <code>{shortenImages(code)}</code>
      </pre>
      <p class="small muted">
        {language.value === "typescript" && "Install @sounding/client. "}
        {language.value === "python" && "Install the package openai. "}
        The code reads your API key from the environment variable <code>SOUNDING_API_KEY</code>.
      </p>
    </Dialog>
  );
}
