/** Saves a transcript as text, subtitles or JSON. */
import { Icon } from "../../../design/icons.tsx";
import { Menu } from "../../../design/menu.tsx";
import { CopyButton } from "../../../design/copy-button.tsx";
import { saveFile } from "../save-file.ts";
import { toSubRip, toWebVtt } from "./subtitles.ts";
import type { Transcript } from "./transcript.ts";

interface Format {
  readonly title: string;
  readonly extension: string;
  readonly type: string;
  /** Whether it consists of segments. */
  readonly timed: boolean;
  render(transcript: Transcript): string;
}

const formats: readonly Format[] = [
  { title: "Text", extension: "txt", type: "text/plain", timed: false, render: ({ text }) => `${text}\n` },
  {
    title: "Subtitles: SubRip (SRT)",
    extension: "srt",
    type: "application/x-subrip",
    timed: true,
    render: (transcript) => toSubRip(spokenIn(transcript)),
  },
  {
    title: "Subtitles: WebVTT",
    extension: "vtt",
    type: "text/vtt",
    timed: true,
    render: (transcript) => toWebVtt(spokenIn(transcript)),
  },
  {
    title: "JSON",
    extension: "json",
    type: "application/json",
    timed: false,
    render: (transcript) => `${JSON.stringify({ text: transcript.text, ...spokenIn(transcript) }, null, 2)}\n`,
  },
];

/** @param name of the recording */
export function ExportMenu({ transcript, name }: { readonly transcript: Transcript; readonly name: string }) {
  const base = name.replace(/\.[^.]+$/, "") || "transcript";
  const offered = formats.filter(({ timed }) => !timed || transcript.segments.length > 0);
  return (
    <div class="row">
      <Menu
        button={
          <>
            <Icon name="download" />
            Export
          </>
        }
      >
        {(close) =>
          offered.map(({ title, extension, type, render }) => (
            <button
              key={extension}
              type="button"
              class="menu-item"
              onClick={() => {
                close();
                saveFile(new Blob([render(transcript)], { type }), `${base}.${extension}`);
              }}
            >
              {title}
            </button>
          ))
        }
      </Menu>
      <CopyButton text={() => transcript.text} label="Copy text" />
      {offered.length < formats.length && (
        <span class="small muted">Subtitles need times: select them in the settings, then transcribe again.</span>
      )}
    </div>
  );
}

function spokenIn({ segments, words }: Transcript) {
  return { segments: segments.map(({ segment }) => segment), words };
}
