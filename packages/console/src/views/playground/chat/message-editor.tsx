/** A field for a message and its images, which can be selected, pasted or dropped. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Icon } from "../../../design/icons.tsx";
import { acceptedImages, readImages } from "./attach-images.ts";
import type { Draft } from "./chat-store.ts";

interface MessageEditorProps {
  readonly label: string;
  readonly value: Draft;
  readonly onChange: (value: Draft) => void;
  /** Enter, without Shift. */
  readonly onSubmit: () => void;
  readonly onEscape?: () => void;
  readonly placeholder?: string;
  readonly autofocus?: boolean;
  /** Buttons. */
  readonly children: ComponentChildren;
}

export function MessageEditor(props: MessageEditorProps) {
  const { label, value, onChange, onSubmit, onEscape, placeholder, autofocus = false, children } = props;
  const problems = useSignal<readonly string[]>([]);
  const dropping = useSignal(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const latest = useRef(value);
  latest.current = value;
  useEffect(() => {
    if (autofocus) field.current?.focus();
  }, [autofocus]);
  const attach = async (files: readonly File[]): Promise<void> => {
    if (files.length === 0) return;
    const added = await readImages(files, latest.current.images);
    problems.value = added.problems;
    if (added.images.length > 0) onChange({ ...latest.current, images: [...latest.current.images, ...added.images] });
  };
  return (
    <div
      class={`chat-editor ${dropping.value ? "dropping" : ""}`}
      onDragOver={(event) => {
        if (event.dataTransfer?.types.includes("Files") !== true) return;
        event.preventDefault();
        dropping.value = true;
      }}
      onDragLeave={() => (dropping.value = false)}
      onDrop={(event) => {
        dropping.value = false;
        const files = [...(event.dataTransfer?.files ?? [])];
        if (files.length === 0) return;
        event.preventDefault();
        void attach(files);
      }}
    >
      {value.images.length > 0 && (
        <ul class="chat-images" aria-label="Images of the message">
          {value.images.map(({ name, url }, index) => (
            <li key={index}>
              <img src={url} alt={name} />
              <button
                type="button"
                class="button icon-only"
                aria-label={`Remove the image ${name}`}
                onClick={() => onChange({ ...value, images: value.images.filter((_, other) => other !== index) })}
              >
                <Icon name="close" size={12} />
              </button>
            </li>
          ))}
        </ul>
      )}
      <textarea
        ref={field}
        aria-label={label}
        rows={1}
        dir="auto"
        placeholder={placeholder}
        value={value.text}
        onInput={(event) => onChange({ ...latest.current, text: event.currentTarget.value })}
        onPaste={(event) => {
          const files = [...(event.clipboardData?.files ?? [])];
          if (files.length === 0) return;
          event.preventDefault();
          void attach(files);
        }}
        onKeyDown={(event) => {
          if (event.isComposing) return;
          if (event.key === "Escape") onEscape?.();
          if (event.key !== "Enter" || event.shiftKey || event.altKey) return;
          event.preventDefault();
          onSubmit();
        }}
      />
      {problems.value.length > 0 && (
        <ul class="chat-image-problems" role="alert">
          {problems.value.map((problem) => (
            <li key={problem}>{problem}</li>
          ))}
        </ul>
      )}
      <div class="row">
        <input
          ref={picker}
          type="file"
          class="visually-hidden"
          tabIndex={-1}
          aria-hidden="true"
          accept={acceptedImages}
          multiple
          onChange={(event) => {
            void attach([...(event.currentTarget.files ?? [])]);
            event.currentTarget.value = "";
          }}
        />
        <button
          type="button"
          class="button quiet icon-only"
          aria-label="Add images"
          title="Add images"
          onClick={() => picker.current!.click()}
        >
          <Icon name="image" />
        </button>
        {children}
      </div>
    </div>
  );
}
