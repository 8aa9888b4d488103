/** A button with a popover below it: the browser's own, which closes with Escape and by a click elsewhere. */
import type { ComponentChildren } from "preact";
import { useId, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";

/**
 * @param label the button's name if its content is an icon
 * @param children the popover's content, rendered while it is open; `close` closes it
 */
export function Menu({
  button,
  label,
  children,
  align = "start",
  quiet = false,
}: {
  readonly button: ComponentChildren;
  readonly label?: string | undefined;
  readonly children: (close: () => void) => ComponentChildren;
  readonly align?: "start" | "end";
  readonly quiet?: boolean;
}) {
  const id = useId();
  const trigger = useRef<HTMLButtonElement>(null);
  const popover = useRef<HTMLDivElement>(null);
  const open = useSignal(false);
  const place = () => {
    const box = trigger.current!.getBoundingClientRect();
    const { style, offsetWidth, offsetHeight } = popover.current!;
    const left = align === "start" ? box.left : box.right - offsetWidth;
    const below = box.bottom + 4;
    const top = below + offsetHeight > innerHeight && box.top > offsetHeight ? box.top - offsetHeight - 4 : below;
    style.left = `${Math.max(8, Math.min(left, innerWidth - offsetWidth - 8))}px`;
    style.top = `${top}px`;
  };
  return (
    <>
      <button
        ref={trigger}
        type="button"
        class={`button ${quiet ? "quiet" : ""} ${label === undefined ? "" : "icon-only"}`}
        popovertarget={id}
        aria-label={label}
        title={label}
        aria-expanded={open.value}
      >
        {button}
      </button>
      <div
        ref={popover}
        id={id}
        popover="auto"
        class="menu"
        onToggle={(event) => {
          open.value = event.newState === "open";
          if (open.value) requestAnimationFrame(place);
        }}
      >
        {open.value && children(() => popover.current?.hidePopover())}
      </div>
    </>
  );
}
