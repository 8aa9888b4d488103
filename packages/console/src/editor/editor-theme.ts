/** The editor in the colours of the console, which its shadow root inherits as custom properties. */
import { HighlightStyle } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const raised = {
  border: "1px solid var(--border)",
  borderRadius: "var(--radius)",
  backgroundColor: "var(--surface-raised)",
  color: "var(--text)",
  boxShadow: "var(--shadow)",
};

export const editorTheme = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "transparent", fontSize: "13px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--font-mono)", lineHeight: "1.5", overflow: "auto", maxHeight: "160px" },
  ".cm-content": { padding: "5px 0", minHeight: "30px", caretColor: "var(--text)" },
  ".cm-line": { padding: "0 12px" },
  ".cm-placeholder": { color: "var(--text-muted)" },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": {
    backgroundColor: "var(--selected)",
    outline: "1px solid var(--border-strong)",
  },
  ".cm-nonmatchingBracket, &.cm-focused .cm-nonmatchingBracket": {
    backgroundColor: "var(--error-surface)",
    color: "var(--error)",
  },
  ".cm-tooltip": raised,
  ".cm-tooltip.cm-tooltip-autocomplete > ul": {
    fontFamily: "var(--font-mono)",
    fontSize: "12px",
    maxHeight: "240px",
    maxWidth: "min(560px, 90vw)",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "3px 8px" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": {
    backgroundColor: "var(--selected)",
    color: "var(--accent-strong)",
  },
  ".cm-completionLabel": { unicodeBidi: "isolate" },
  ".cm-completionDetail": { color: "var(--text-muted)", fontStyle: "normal" },
  ".cm-completionIcon": { display: "none" },
  ".cm-completionInfo": {
    ...raised,
    maxWidth: "320px",
    padding: "8px 12px",
    fontFamily: "var(--font)",
    fontSize: "12px",
  },
  ".cm-diagnostic": { padding: "6px 10px", fontFamily: "var(--font)", fontSize: "12px", maxWidth: "480px" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--error)" },
  ".cm-diagnosticSource": { display: "none" },
  ".cm-lintRange-error": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--error)",
    textUnderlineOffset: "3px",
  },
  ".cm-lintRange-warning": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--warning)",
    textUnderlineOffset: "3px",
  },
  ".cm-lintPoint:after": { borderBottomColor: "var(--error)" },
});

export const highlightStyle = HighlightStyle.define([
  { tag: tags.comment, color: "var(--text-muted)", fontStyle: "italic" },
  { tag: tags.string, color: "var(--series-3)" },
  { tag: tags.number, color: "var(--series-4)" },
  { tag: tags.labelName, color: "var(--series-2)" },
  { tag: tags.function(tags.variableName), color: "var(--accent)", fontWeight: "500" },
  { tag: [tags.operatorKeyword, tags.modifier, tags.logicOperator], color: "var(--series-5)" },
  { tag: tags.variableName, color: "var(--text)" },
  { tag: [tags.operator, tags.paren, tags.brace, tags.squareBracket], color: "var(--text-muted)" },
]);
