/** One query of the explorer: its editor, what is wrong with it, its history, and a button to remove it. */
import { QueryEditor } from "../../editor/query-editor.tsx";
import type { LanguageContext } from "../../editor/editor-language.ts";
import { promqlLanguage } from "../../editor/query-languages.ts";
import type { EditorProblem } from "../../editor/code-editor.ts";
import { Icon } from "../../design/icons.tsx";
import { Menu } from "../../design/menu.tsx";
import { session } from "../../state/session.ts";
import { moments } from "../../state/time-range.ts";
import { projectHeaders } from "./metrics-address.ts";
import { clearHistory, readHistory } from "./query-history.ts";

const context: LanguageContext = { headers: projectHeaders, moments: () => moments.peek() };

export function QueryField({
  letter,
  text,
  problem,
  autofocus,
  onChange,
  onRun,
  onSelect,
  onRemove,
}: {
  /** Absent if it is the only query. */
  readonly letter: string | undefined;
  readonly text: string;
  readonly problem: EditorProblem | undefined;
  readonly autofocus: boolean;
  readonly onChange: (text: string) => void;
  readonly onRun: () => void;
  /** Called with a query of the history. */
  readonly onSelect: (text: string) => void;
  readonly onRemove: (() => void) | undefined;
}) {
  const name = letter === undefined ? "Query" : `Query ${letter}`;
  return (
    <div class="metrics-query">
      {letter !== undefined && <span class="badge metrics-letter">{letter}</span>}
      <div class="metrics-query-text">
        <QueryEditor
          language={promqlLanguage}
          context={context}
          text={text}
          label={`${name} in PromQL`}
          placeholder="A PromQL query; Enter runs it"
          problem={problem}
          autofocus={autofocus}
          onChange={onChange}
          onRun={onRun}
        />
        {problem !== undefined && problem.text === text && (
          <p class="metrics-problem foreign" role="alert">
            {problem.message}
          </p>
        )}
      </div>
      <Menu button={<Icon name="history" />} label={`History of ${name}`} align="end" quiet>
        {(close) => <History onSelect={(chosen) => (close(), onSelect(chosen))} onClose={close} />}
      </Menu>
      {onRemove !== undefined && (
        <button
          type="button"
          class="button quiet icon-only"
          aria-label={`Remove ${name}`}
          title="Remove"
          onClick={onRemove}
        >
          <Icon name="close" />
        </button>
      )}
    </div>
  );
}

function History({ onSelect, onClose }: { readonly onSelect: (text: string) => void; readonly onClose: () => void }) {
  const organizationId = session.value?.organization_id ?? "";
  const history = readHistory(organizationId);
  if (history.length === 0) return <p class="metrics-history muted">Queries that you run are listed here.</p>;
  return (
    <div class="metrics-history">
      <ul>
        {history.map((query) => (
          <li key={query}>
            <button type="button" class="menu-item" onClick={() => onSelect(query)}>
              <code class="foreign">{query.length > 300 ? `${query.slice(0, 300)}…` : query}</code>
            </button>
          </li>
        ))}
      </ul>
      <button type="button" class="menu-item muted" onClick={() => (clearHistory(organizationId), onClose())}>
        Clear the history of this browser
      </button>
    </div>
  );
}
