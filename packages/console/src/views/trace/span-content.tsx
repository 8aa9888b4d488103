/** The prompts and answers of a span as a conversation, or how to record them. */
import { ContentHint } from "../../genai/content-hint.tsx";
import { plainAttributes } from "../../genai/any-value.ts";
import { readContent } from "../../genai/messages.ts";
import { Messages } from "../../genai/messages.tsx";
import { Section } from "./section.tsx";
import type { CallFacts } from "./span-facts.ts";
import type { TraceSpan } from "./trace-model.ts";

/** Calls whose prompts and answers can be recorded. */
const recordable = new Set(["chat", "text_completion", "generate_content", "speech", "transcription"]);

export function SpanContent({ span, facts }: { readonly span: TraceSpan; readonly facts: CallFacts }) {
  const content = readContent(span.raw);
  if (content === undefined) {
    if (!recordable.has(facts.operation ?? "")) return null;
    const project = plainAttributes(span.resource.attributes)["project.name"];
    return <ContentHint project={typeof project === "string" ? project : undefined} />;
  }
  return (
    <>
      {content.input.length > 0 && (
        <Section key={`${span.key} input`} title="Input">
          <Messages messages={content.input} label="Input" />
        </Section>
      )}
      {content.output.length > 0 && (
        <Section key={`${span.key} output`} title="Output">
          <Messages messages={content.output} label="Output" />
        </Section>
      )}
    </>
  );
}
