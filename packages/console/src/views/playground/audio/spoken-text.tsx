/**
 * Text whose words are highlighted while they are spoken, and play from there when they are clicked. One word at a time is in the
 * tab order; the arrow keys go to the others.
 */
import { useSignalEffect } from "@preact/signals";
import { Component, type ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import type { Player } from "./player.ts";
import { wordAt, type TimedWord } from "./timed-words.ts";

/** What contains the words: any number of `<SpokenWords>`. */
export function SpokenText({
  words,
  player,
  label,
  children,
}: {
  /** All words, in order of time; may grow. */
  readonly words: readonly TimedWord[];
  readonly player: Player;
  readonly label: string;
  readonly children: ComponentChildren;
}) {
  const element = useRef<HTMLDivElement>(null);
  const marked = useRef<Element | undefined>(undefined);
  useSignalEffect(() => {
    const position = player.position.value;
    const index = position > 0 || player.playing.value ? wordAt(words, position) : -1;
    const word = findWord(element.current, index);
    if (word === marked.current) return;
    marked.current?.removeAttribute("aria-current");
    marked.current = word;
    if (word === undefined) return;
    word.setAttribute("aria-current", "true");
    if (player.playing.value) keepInSight(element.current!, word);
  });
  const playFrom = (target: EventTarget | null) => {
    const word = words[indexOf(target)];
    if (word === undefined) return;
    player.seek(word.start);
    player.play();
  };
  return (
    <div
      ref={element}
      class="spoken-text"
      role="group"
      aria-label={label}
      dir="auto"
      onClick={(event) => playFrom(event.target)}
      onKeyDown={(event) => {
        const index = indexOf(event.target);
        if (index < 0) return;
        if (event.key === "Enter" || event.key === " ") {
          event.preventDefault();
          return playFrom(event.target);
        }
        const next = { ArrowLeft: index - 1, ArrowRight: index + 1, Home: 0, End: words.length - 1 }[event.key];
        if (next === undefined) return;
        event.preventDefault();
        const target = findWord(element.current, next);
        if (target === undefined) return;
        (event.target as Element).setAttribute("tabindex", "-1");
        target.setAttribute("tabindex", "0");
        target.focus();
      }}
    >
      {children}
    </div>
  );
}

/** A word of the list of all words, or text between words. */
export type TextPiece = string | { readonly word: number; readonly text: string };

/** Pieces that are rendered together. They never change, except that more are added. */
const piecesPerBlock = 200;

export function SpokenWords({ pieces, count }: { readonly pieces: readonly TextPiece[]; readonly count: number }) {
  const blocks = [];
  for (let from = 0; from < count; from += piecesPerBlock)
    blocks.push(<Block key={from} pieces={pieces} from={from} to={Math.min(count, from + piecesPerBlock)} />);
  return <>{blocks}</>;
}

interface BlockProps {
  readonly pieces: readonly TextPiece[];
  readonly from: number;
  readonly to: number;
}

class Block extends Component<BlockProps> {
  override shouldComponentUpdate(next: Readonly<BlockProps>): boolean {
    return next.pieces !== this.props.pieces || next.to !== this.props.to;
  }

  override render({ pieces, from, to }: BlockProps) {
    return (
      <span>
        {pieces.slice(from, to).map((piece) =>
          typeof piece === "string" ? (
            piece
          ) : (
            <span
              key={piece.word}
              class="spoken-word"
              role="button"
              tabIndex={piece.word === 0 ? 0 : -1}
              data-word={piece.word}
            >
              {piece.text}
            </span>
          ),
        )}
      </span>
    );
  }
}

function indexOf(target: EventTarget | null): number {
  const word = target instanceof Element ? target.closest<HTMLElement>("[data-word]") : null;
  return word === null ? -1 : Number(word.dataset["word"]);
}

function findWord(element: Element | null, index: number): HTMLElement | undefined {
  return element?.querySelector<HTMLElement>(`[data-word="${index}"]`) ?? undefined;
}

/** Scrolls the text, never the page. */
function keepInSight(box: Element, word: Element): void {
  const outer = box.getBoundingClientRect();
  const inner = word.getBoundingClientRect();
  if (inner.top >= outer.top && inner.bottom <= outer.bottom) return;
  box.scrollTop += inner.top - outer.top - outer.height / 3;
}
