/** An editor for one query. Enter runs it, Shift+Enter starts a new line. CodeMirror is loaded when the first editor opens. */
import { useEffect, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import type { CodeEditor, EditorProblem } from "./code-editor.ts";
import type { EditorLanguage, LanguageContext } from "./editor-language.ts";

export interface QueryEditorProps {
  readonly language: EditorLanguage;
  readonly context: LanguageContext;
  readonly text: string;
  /** The field's name. */
  readonly label: string;
  readonly placeholder?: string;
  /** What the server says about a text, shown at its position. */
  readonly problem?: EditorProblem | undefined;
  readonly autofocus?: boolean;
  readonly onChange: (text: string) => void;
  readonly onRun: () => void;
}

export function QueryEditor(props: QueryEditorProps) {
  const { label, language, placeholder = "", problem, text } = props;
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<CodeEditor>(undefined);
  const ready = useSignal(false);
  const failed = useSignal(false);
  const latest = useRef(props);
  latest.current = props;
  useEffect(() => {
    let closed = false;
    let close = (): void => {};
    const open = async (): Promise<void> => {
      const [{ createCodeEditor }, loaded] = await Promise.all([
        import("./code-editor.ts"),
        language.load(latest.current.context),
      ]);
      if (closed) return loaded.close();
      const element = host.current!;
      const hadFocus = element.parentElement?.contains(document.activeElement) ?? false;
      const created = createCodeEditor({
        root: element.shadowRoot ?? element.attachShadow({ mode: "open" }),
        text: latest.current.text,
        label,
        placeholder,
        language: loaded.extension,
        onChange: (next) => latest.current.onChange(next),
        onRun: () => latest.current.onRun(),
      });
      editor.current = created;
      created.setProblem(latest.current.problem);
      ready.value = true;
      if (hadFocus || latest.current.autofocus === true) created.focus();
      close = () => {
        created.destroy();
        loaded.close();
      };
    };
    open().catch(() => (failed.value = true));
    return () => {
      closed = true;
      editor.current = undefined;
      close();
    };
  }, [language]);
  useEffect(() => editor.current?.setText(text));
  useEffect(() => editor.current?.setProblem(problem), [problem]);
  return (
    <div class="query-editor" data-ready={ready.value}>
      {/* Keys that are typed do not reach the console's shortcuts, which cannot look into a shadow root. */}
      <div
        ref={host}
        class="query-editor-host"
        hidden={!ready.value}
        onKeyDown={(event) => {
          if (!event.metaKey && !event.ctrlKey) event.stopPropagation();
        }}
      />
      {!ready.value && (
        <textarea
          class="query-editor-plain"
          rows={1}
          spellcheck={false}
          aria-label={label}
          placeholder={failed.value ? `${placeholder} (without completion: it could not be loaded)` : placeholder}
          value={text}
          onInput={(event) => props.onChange(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
            event.preventDefault();
            props.onRun();
          }}
        />
      )}
    </div>
  );
}
