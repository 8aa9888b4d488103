/** The frames of a page while something happens: how many, and the longest. */
import type { Page } from "../../packages/console/test/support/browser.ts";

export interface Frames {
  readonly perSecond: number;
  readonly longestMs: number;
  /** Frames that took longer than 50 ms. */
  readonly slow: number;
}

// As text: these scripts run in the page.
const start = `(() => {
  const times = [];
  const record = (now) => { times.push(now); recording.frame = requestAnimationFrame(record); };
  const recording = { times, frame: requestAnimationFrame(record) };
  globalThis.recordedFrames = recording;
})()`;
const stop = `(() => {
  const { times, frame } = globalThis.recordedFrames;
  cancelAnimationFrame(frame);
  return times;
})()`;

/** Records the frames from the beginning to the end of the action. */
export async function recordFrames(page: Page, act: () => Promise<void>): Promise<Frames> {
  await page.evaluate(start);
  await act();
  const times = await page.evaluate<number[]>(stop);
  const lengths = times.slice(1).map((time, index) => time - times[index]!);
  const seconds = (times.at(-1)! - times[0]!) / 1000;
  return {
    perSecond: lengths.length / seconds,
    longestMs: Math.max(...lengths),
    slow: lengths.filter((length) => length > 50).length,
  };
}

/**
 * Scrolls the element from its beginning to its end, a part of its height in every frame.
 * @param selector of the element that scrolls
 */
export async function scrollThrough(page: Page, selector: string, frames = 240): Promise<void> {
  await page.evaluate(`new Promise((resolve) => {
    const list = document.querySelector(${JSON.stringify(selector)});
    const last = list.scrollHeight - list.clientHeight;
    let frame = 0;
    const step = () => {
      frame += 1;
      list.scrollTop = last * frame / ${frames};
      if (frame < ${frames}) requestAnimationFrame(step);
      else requestAnimationFrame(resolve);
    };
    requestAnimationFrame(step);
  })`);
}

/** JavaScript's heap after a garbage collection, in bytes. */
export async function heapBytes(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = (await session.send("Runtime.getHeapUsage")) as { usedSize: number };
  await session.detach();
  return usedSize;
}
