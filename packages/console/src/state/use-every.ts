/** Repeats something while a component is shown and the page is visible, such as a request for what changes. */
import { useEffect, useRef } from "preact/hooks";

export function useEvery(intervalMs: number, run: () => void): void {
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    const timer = setInterval(() => document.hidden || latest.current(), intervalMs);
    return () => clearInterval(timer);
  }, [intervalMs]);
}
