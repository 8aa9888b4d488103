/** The controls of audio: play, pause, the waveform to seek in, and the time; with keyboard shortcuts. */
import { useComputed } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Icon } from "../../../design/icons.tsx";
import { Notice } from "../../../design/states.tsx";
import { useShortcuts } from "../../../shell/shortcuts.ts";
import type { Player } from "./player.ts";
import { formatClock } from "./timed-words.ts";
import { Waveform } from "./waveform.tsx";

const stepSeconds = 2;

export function AudioPlayer({ player, children }: { readonly player: Player; readonly children?: ComponentChildren }) {
  const toggle = () => (player.playing.value ? player.pause() : player.play());
  useShortcuts(
    () => [
      { keys: "k", description: "Play or pause the audio", group: "This view", run: toggle },
      {
        keys: "ArrowLeft",
        description: `Go back ${stepSeconds} seconds`,
        group: "This view",
        run: () => player.seek(player.position.value - stepSeconds),
      },
      {
        keys: "ArrowRight",
        description: `Go forward ${stepSeconds} seconds`,
        group: "This view",
        run: () => player.seek(player.position.value + stepSeconds),
      },
    ],
    [player],
  );
  const position = useComputed(() => formatClock(player.position.value));
  const duration = useComputed(() => formatClock(player.duration.value));
  if (player.problem.value !== undefined) return <Notice kind="warning">{player.problem.value}</Notice>;
  const name = player.playing.value ? "Pause" : "Play";
  return (
    <div class="audio-player" role="group" aria-label="Player">
      <button
        type="button"
        class="button icon-only audio-play"
        aria-label={name}
        title={`${name} (k)`}
        onClick={toggle}
      >
        <Icon name={player.playing.value ? "pause" : "play"} />
      </button>
      <Waveform player={player} />
      <span class="audio-time mono">
        {position} / {duration}
      </span>
      {children}
    </div>
  );
}
