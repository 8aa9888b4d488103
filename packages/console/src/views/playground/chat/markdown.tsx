/** The text of a model as elements. Finished blocks of a growing text are not rendered again. */
import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useRef } from "preact/hooks";
import { CopyButton } from "../../../design/copy-button.tsx";
import { formatCount } from "../../../design/format.ts";
import { splitBlocks, splitSpans, type Block } from "./markdown-blocks.ts";

/** Longer texts are clipped until someone asks for all. */
const shownCharacters = 100_000;

interface Rendered {
  text: string;
  blocks: readonly Block[];
  /** Preact skips elements that are the same objects as before. */
  elements: WeakMap<Block, VNode>;
}

export function Markdown({ text }: { readonly text: string }) {
  const all = useSignal(false);
  const rendered = useRef<Rendered>({ text: "", blocks: [], elements: new WeakMap() });
  const shown = text.length > shownCharacters && !all.value ? text.slice(0, shownCharacters) : text;
  const last = rendered.current;
  if (last.text !== shown) {
    last.blocks = splitBlocks(shown, shown.startsWith(last.text) ? last.blocks : []);
    last.text = shown;
  }
  return (
    <div class="chat-markdown">
      {last.blocks.map((block) => {
        const known = last.elements.get(block);
        if (known !== undefined) return known;
        const element = <BlockElement key={block.start} block={block} />;
        last.elements.set(block, element);
        return element;
      })}
      {shown.length < text.length && (
        <button type="button" class="button" onClick={() => (all.value = true)}>
          Show all {formatCount(text.length)} characters
        </button>
      )}
    </div>
  );
}

function BlockElement({ block }: { readonly block: Block }) {
  if (block.kind === "code") return <Code text={block.text} language={block.language} />;
  if (block.kind === "heading") {
    return (
      <p class="foreign chat-markdown-heading" dir="auto">
        <Spans text={block.text} />
      </p>
    );
  }
  if (block.kind === "text") {
    return (
      <p class="foreign" dir="auto">
        <Spans text={block.text} />
      </p>
    );
  }
  return (
    <ul class="chat-markdown-list">
      {block.items.map(({ depth, marker, text }, index) => (
        <li key={index} data-depth={depth} dir="auto">
          <span class="chat-markdown-marker">{marker}</span>
          <span class="foreign">
            <Spans text={text} />
          </span>
        </li>
      ))}
    </ul>
  );
}

function Code({ text, language }: { readonly text: string; readonly language: string }) {
  return (
    <figure class="code-block">
      <figcaption>
        <span class="foreign">{language === "" ? "Code" : language}</span>
        <CopyButton text={text} label="Copy the code" iconOnly />
      </figcaption>
      <pre tabIndex={0} dir="ltr" class="chat-markdown-code">
        <code>{text}</code>
      </pre>
    </figure>
  );
}

function Spans({ text }: { readonly text: string }) {
  return (
    <>
      {splitSpans(text).map((span, index) => {
        if (span.kind === "text") return span.text;
        if (span.kind === "code") return <code key={index}>{span.text}</code>;
        if (span.kind === "bold") return <strong key={index}>{span.text}</strong>;
        if (span.kind === "italic") return <em key={index}>{span.text}</em>;
        return (
          <a key={index} href={span.url} title={span.url} target="_blank" rel="noopener noreferrer nofollow">
            {span.text}
          </a>
        );
      })}
    </>
  );
}
