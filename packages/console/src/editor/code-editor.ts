/**
 * The CodeMirror editor of a query: highlighting, completion, and problems at their position. It lives in a shadow root, where
 * CodeMirror's styles are constructed style sheets: a strict Content-Security-Policy refuses style elements.
 */
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, insertNewline } from "@codemirror/commands";
import { bracketMatching, syntaxHighlighting } from "@codemirror/language";
import { linter, lintKeymap, type Diagnostic } from "@codemirror/lint";
import { EditorState, StateEffect, StateField, type Extension } from "@codemirror/state";
import { EditorView, keymap, placeholder as placeholderText } from "@codemirror/view";
import { editorTheme, highlightStyle } from "./editor-theme.ts";

/** What the server says about a text. */
export interface EditorProblem {
  /** The text that it is about; another text no longer has the problem. */
  readonly text: string;
  readonly message: string;
  /** Offset in the text. */
  readonly at: number;
}

export interface CodeEditorOptions {
  readonly root: ShadowRoot;
  readonly text: string;
  readonly label: string;
  readonly placeholder: string;
  readonly language: Extension;
  readonly onChange: (text: string) => void;
  readonly onRun: () => void;
}

export interface CodeEditor {
  /** Sets the text, unless it is one that the editor has reported and that was changed since. */
  setText(text: string): void;
  setProblem(problem: EditorProblem | undefined): void;
  focus(): void;
  destroy(): void;
}

const changeProblem = StateEffect.define<EditorProblem | undefined>();

const currentProblem = StateField.define<EditorProblem | undefined>({
  create: () => undefined,
  update: (problem, { effects }) =>
    effects.reduce((before, effect) => (effect.is(changeProblem) ? effect.value : before), problem),
});

export function createCodeEditor(options: CodeEditorOptions): CodeEditor {
  const { label, language, onChange, onRun, placeholder, root, text } = options;
  const run = (): boolean => {
    onRun();
    return true;
  };
  /** Texts that the owner was told of, and may give back after more was typed: they are older than the editor's. */
  const reported: string[] = [];
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        history(),
        closeBrackets(),
        bracketMatching(),
        autocompletion({ maxRenderedOptions: 200 }),
        language,
        currentProblem,
        linter(problemsOf, { needsRefresh: ({ state, startState }) => isChanged(startState, state) }),
        syntaxHighlighting(highlightStyle),
        editorTheme,
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false" }),
        placeholderText(placeholder),
        // The list of completions comes first: Enter in it accepts one.
        keymap.of([
          ...completionKeymap,
          { key: "Mod-Enter", run },
          { key: "Shift-Enter", run: insertNewline },
          { key: "Enter", run },
          ...closeBracketsKeymap,
          ...historyKeymap,
          ...lintKeymap,
          ...defaultKeymap,
        ]),
        EditorView.updateListener.of(({ docChanged, state }) => {
          if (!docChanged) return;
          reported.push(state.doc.toString());
          onChange(reported.at(-1)!);
        }),
      ],
    }),
  });
  return {
    setText(next) {
      const { doc } = view.state;
      const isKnown = doc.toString() === next;
      if (!isKnown && reported.includes(next)) return;
      reported.length = 0;
      if (!isKnown) view.dispatch({ changes: { from: 0, to: doc.length, insert: next } });
    },
    setProblem: (problem) => view.dispatch({ effects: changeProblem.of(problem) }),
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}

function isChanged(before: EditorState, after: EditorState): boolean {
  return before.field(currentProblem) !== after.field(currentProblem);
}

/** The server's problem, as long as the text is the one that it is about. */
function problemsOf({ state }: EditorView): readonly Diagnostic[] {
  const problem = state.field(currentProblem);
  if (problem === undefined || problem.text !== state.doc.toString()) return [];
  const from = Math.min(problem.at, Math.max(0, state.doc.length - 1));
  const to = Math.min(state.doc.length, state.wordAt(from)?.to ?? from + 1);
  return [{ from, to: Math.max(from, to), severity: "error", message: problem.message, source: "Server" }];
}
