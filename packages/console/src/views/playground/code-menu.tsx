/** A menu that copies a call as code for a shell or a program. */
import { useSignal } from "@preact/signals";
import { copyText } from "../../design/copy-button.tsx";
import { Icon } from "../../design/icons.tsx";
import { Menu } from "../../design/menu.tsx";

const languages = ["curl", "TypeScript", "Python"] as const;
export type CodeLanguage = (typeof languages)[number];

export function CodeMenu({ code }: { readonly code: (language: CodeLanguage) => string }) {
  const copied = useSignal<CodeLanguage | undefined>(undefined);
  const copy = async (language: CodeLanguage) => {
    if (!(await copyText(code(language)))) return;
    copied.value = language;
    setTimeout(() => (copied.value = undefined), 2_000);
  };
  return (
    <>
      <Menu
        quiet
        button={
          <>
            <Icon name={copied.value === undefined ? "copy" : "check"} />
            {copied.value === undefined ? "Copy as code" : `Copied ${copied.value}`}
          </>
        }
      >
        {(close) =>
          languages.map((language) => (
            <button
              key={language}
              type="button"
              class="menu-item"
              onClick={() => {
                close();
                void copy(language);
              }}
            >
              Copy as {language}
            </button>
          ))
        }
      </Menu>
      <span class="visually-hidden" role="status">
        {copied.value !== undefined && `Copied ${copied.value}`}
      </span>
    </>
  );
}
