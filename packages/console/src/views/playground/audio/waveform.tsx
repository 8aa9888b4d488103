/** A waveform that shows how much of the audio has been heard, and with which one seeks. */
import { useComputed, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { canvasColor } from "../../../design/chart/chart-color.ts";
import { preferences } from "../../../state/preferences.ts";
import type { Player } from "./player.ts";
import { formatClock } from "./timed-words.ts";

const barWidth = 2;
const barGap = 1;
const stepSeconds = 2;
const pageSeconds = 10;

export function Waveform({ player }: { readonly player: Player }) {
  const element = useRef<HTMLDivElement>(null);
  const rest = useRef<HTMLCanvasElement>(null);
  const heard = useRef<HTMLCanvasElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const draw = () => {
    const peaks = player.waveform.peek()?.peaks;
    const box = element.current;
    if (box === null) return;
    const duration = player.duration.peek();
    for (const [canvas, color] of [
      [rest.current!, "--border-strong"],
      [heard.current!, "--accent"],
    ] as const) {
      const ratio = devicePixelRatio;
      canvas.width = box.clientWidth * ratio;
      canvas.height = box.clientHeight * ratio;
      const context = canvas.getContext("2d")!;
      context.scale(ratio, ratio);
      context.fillStyle = canvasColor(box, color);
      const count = Math.floor(box.clientWidth / (barWidth + barGap));
      const columns = peaks?.columns(count, duration) ?? new Float32Array(count);
      columns.forEach((peak, index) => {
        // The root lifts what is quiet, as ears do.
        const height = Math.max(2, Math.sqrt(peak) * box.clientHeight);
        context.fillRect(index * (barWidth + barGap), (box.clientHeight - height) / 2, barWidth, height);
      });
    }
  };
  useSignalEffect(() => {
    void player.waveform.value;
    void player.duration.value;
    void preferences.value;
    const request = requestAnimationFrame(draw);
    return () => cancelAnimationFrame(request);
  });
  useEffect(() => {
    const sizes = new ResizeObserver(draw);
    sizes.observe(element.current!);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", draw);
    return () => {
      sizes.disconnect();
      dark.removeEventListener("change", draw);
    };
  }, [player]);
  useSignalEffect(() => {
    const share = player.duration.value === 0 ? 0 : player.position.value / player.duration.value;
    if (frame.current === null || heard.current === null) return;
    const left = (1 - share) * 100;
    frame.current.style.transform = `translateX(${-left}%)`;
    heard.current.style.transform = `translateX(${left}%)`;
  });
  const seconds = useComputed(() => Math.round(player.position.value));
  const total = useComputed(() => Math.round(player.duration.value));
  const seekTo = (event: PointerEvent) => {
    const box = element.current!.getBoundingClientRect();
    player.seek(((event.clientX - box.left) / box.width) * player.duration.value);
  };
  return (
    <div
      ref={element}
      class="audio-waveform"
      role="slider"
      tabIndex={0}
      aria-label="Position in the audio"
      aria-valuemin={0}
      aria-valuemax={total}
      aria-valuenow={seconds}
      aria-valuetext={`${formatClock(seconds.value)} of ${formatClock(total.value)}`}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        seekTo(event);
      }}
      onPointerMove={(event) => event.currentTarget.hasPointerCapture(event.pointerId) && seekTo(event)}
      onKeyDown={(event) => {
        const { position, duration } = player;
        const target = {
          ArrowLeft: position.value - stepSeconds,
          ArrowDown: position.value - stepSeconds,
          ArrowRight: position.value + stepSeconds,
          ArrowUp: position.value + stepSeconds,
          PageDown: position.value - pageSeconds,
          PageUp: position.value + pageSeconds,
          Home: 0,
          End: duration.value,
        }[event.key];
        if (target === undefined) return;
        event.preventDefault();
        player.seek(target);
      }}
    >
      <canvas ref={rest} />
      <div ref={frame} class="audio-heard">
        <canvas ref={heard} />
      </div>
    </div>
  );
}
