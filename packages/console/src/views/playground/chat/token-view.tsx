/**
 * The tokens of an answer, shaded by their probability. Pointing at one, or moving to it with the arrow keys, shows its
 * alternatives.
 */
import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useRef } from "preact/hooks";
import { formatShare } from "../../../design/format.ts";
import type { TokenProbability } from "./conversation.ts";

/** The complete lines of an answer: rendered once, and laid out once, while the answer grows. */
interface CompleteLines {
  readonly elements: VNode[];
  /** Index of the first token after them. */
  end: number;
  /** Tokens that were looked at. */
  seen: number;
}

export function TokenView({ tokens }: { readonly tokens: readonly TokenProbability[] }) {
  const selected = useSignal<number | undefined>(undefined);
  const { current: lines } = useRef<CompleteLines>({ elements: [], end: 0, seen: 0 });
  const list = useRef<HTMLDivElement>(null);
  const detail = useRef<HTMLDivElement>(null);
  const elementAt = (index: number): HTMLElement | null =>
    list.current?.querySelector<HTMLElement>(`[data-index="${index}"]`) ?? null;
  const select = (index: number | undefined): void => {
    if (selected.peek() !== undefined) elementAt(selected.peek()!)?.classList.remove("selected");
    selected.value = index;
    if (index === undefined) return detail.current?.hidePopover();
    const element = elementAt(index);
    if (element === null || detail.current === null) return;
    element.classList.add("selected");
    detail.current.showPopover();
    requestAnimationFrame(() => detail.current !== null && placeBelow(detail.current, element));
  };
  for (; lines.seen < tokens.length; lines.seen++) {
    if (!tokens[lines.seen]!.token.endsWith("\n")) continue;
    const next = lines.seen + 1;
    lines.elements.push(<TokenLine key={lines.end} tokens={tokens} from={lines.end} to={next} />);
    lines.end = next;
  }
  const token = selected.value === undefined ? undefined : tokens[selected.value];
  return (
    <>
      <div
        ref={list}
        class="chat-tokens"
        role="application"
        aria-label={`${tokens.length} tokens with their probabilities. Use the arrow keys.`}
        tabIndex={0}
        onPointerOver={(event) => {
          const index = (event.target as HTMLElement).dataset["index"];
          if (index !== undefined) select(Number(index));
        }}
        onPointerLeave={() => select(undefined)}
        onFocusOut={() => select(undefined)}
        onKeyDown={(event) => {
          const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
          const next = event.key === "Home" ? 0 : event.key === "End" ? tokens.length - 1 : undefined;
          if (event.key === "Escape" && selected.value !== undefined) select(undefined);
          else if (step !== undefined)
            select(Math.min(tokens.length - 1, Math.max(0, selected.value === undefined ? 0 : selected.value + step)));
          else if (next !== undefined) select(next);
          else return;
          event.preventDefault();
          event.stopPropagation();
        }}
      >
        {lines.elements}
        <TokenLine key={lines.end} tokens={tokens} from={lines.end} to={tokens.length} />
      </div>
      <div ref={detail} popover="manual" class="menu chat-token" role="status">
        {token !== undefined && <Alternatives token={token} />}
      </div>
    </>
  );
}

function TokenLine({
  tokens,
  from,
  to,
}: {
  readonly tokens: readonly TokenProbability[];
  readonly from: number;
  readonly to: number;
}) {
  return (
    <div>
      {tokens.slice(from, to).map(({ token, logprob }, index) => (
        <span key={index} data-index={from + index} data-level={levelOf(logprob)}>
          {token}
        </span>
      ))}
    </div>
  );
}

function Alternatives({ token }: { readonly token: TokenProbability }) {
  const others = token.top_logprobs;
  const listed = others.some((other) => other.token === token.token) ? others : [token, ...others];
  return (
    <table class="chat-alternatives">
      <caption class="visually-hidden">The token and its alternatives</caption>
      <tbody>
        {listed.map((each, index) => (
          <tr key={index} aria-current={each.token === token.token ? "true" : undefined}>
            <th scope="row" class="clip mono">
              {JSON.stringify(each.token)}
            </th>
            <td class="number">{formatShare(Math.exp(each.logprob))}</td>
            <td aria-hidden="true">
              <meter min={0} max={1} value={Math.exp(each.logprob)} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** 0 for a certain token, 4 for an improbable one. */
function levelOf(logprob: number): number {
  const probability = Math.exp(logprob);
  if (probability >= 0.9) return 0;
  if (probability >= 0.6) return 1;
  if (probability >= 0.3) return 2;
  return probability >= 0.1 ? 3 : 4;
}

function placeBelow(popover: HTMLElement, anchor: HTMLElement): void {
  const box = anchor.getClientRects()[0] ?? anchor.getBoundingClientRect();
  const { offsetWidth, offsetHeight, style } = popover;
  const below = box.bottom + 6;
  style.left = `${Math.max(8, Math.min(box.left, innerWidth - offsetWidth - 8))}px`;
  style.top = `${below + offsetHeight > innerHeight ? Math.max(8, box.top - offsetHeight - 6) : below}px`;
}
