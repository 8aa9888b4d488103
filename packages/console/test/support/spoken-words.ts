/** Records which words the page highlights while audio is played. Scripts of the page are text: tests have no types of pages. */
import type { Page } from "playwright-core";

/** Begins with the words that are highlighted from now on. */
export async function followSpokenWords(page: Page): Promise<void> {
  await page.evaluate(`(() => {
    globalThis.spokenWords = [];
    globalThis.spokenWordsObserver?.disconnect();
    globalThis.spokenWordsObserver = new MutationObserver((changes) => {
      for (const { target } of changes)
        if (target.getAttribute("aria-current") === "true" && target.hasAttribute("data-word"))
          globalThis.spokenWords.push(target.textContent);
    });
    globalThis.spokenWordsObserver.observe(document.body, {
      subtree: true, childList: true, attributes: true, attributeFilter: ["aria-current"],
    });
  })()`);
}

export async function spokenWords(page: Page): Promise<string[]> {
  return page.evaluate<string[]>("globalThis.spokenWords");
}

/** Waits until a word has been highlighted, however briefly. */
export async function untilSpoken(page: Page, word: string): Promise<void> {
  await page.evaluate(`new Promise((resolve) => {
    const check = () => globalThis.spokenWords.includes(${JSON.stringify(word)}) ? resolve() : setTimeout(check, 10);
    check();
  })`);
}
