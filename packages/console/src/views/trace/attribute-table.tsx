/** Attributes with their values, which can be copied. */
import { useSignal } from "@preact/signals";
import { ClippedText } from "../../design/clipped-text.tsx";
import { CopyButton } from "../../design/copy-button.tsx";
import { formatCount } from "../../design/format.ts";
import { parsedJson, plainValue, valueText, type KeyValue } from "../../genai/any-value.ts";
import { Section } from "./section.tsx";

const shownAtFirst = 60;

/** Attributes of generative AI, by the prefixes of the instrumentations. */
const genAiName = /^(gen_ai|llm|ai|openinference|traceloop|embedding|retrieval|pydantic_ai|agent)[._]/;

/** Shown as a conversation. */
const contentName =
  /^(gen_ai\.(input\.messages|output\.messages|system_instructions|prompt\b|completion\b)|llm\.(input|output)_messages\b|input\.value|output\.value|ai\.prompt\b|ai\.response\.(text|toolCalls|object)|pydantic_ai\.all_messages|all_messages_events|traceloop\.entity\.(input|output)|gen_ai\.tool\.call\.(arguments|result))/;

export function AttributeTable({
  title,
  attributes = [],
  kind,
  closed = false,
}: {
  readonly title: string;
  readonly attributes?: readonly KeyValue[] | undefined;
  /** Which of the attributes. */
  readonly kind: "genai" | "other" | "all";
  readonly closed?: boolean;
}) {
  const wanted = attributes.filter(({ key }) => kind === "all" || genAiName.test(key) === (kind === "genai"));
  // What the conversation shows comes last, as it was sent.
  const isContent = ({ key }: KeyValue): boolean => kind !== "all" && contentName.test(key);
  const list = [...wanted.filter((each) => !isContent(each)), ...wanted.filter(isContent)];
  if (list.length === 0) return null;
  return (
    <Section title={title} count={list.length} closed={closed}>
      <AttributeList attributes={list} />
    </Section>
  );
}

export function AttributeList({ attributes }: { readonly attributes: readonly KeyValue[] }) {
  const all = useSignal(false);
  const shown = all.value ? attributes : attributes.slice(0, shownAtFirst);
  return (
    <>
      <dl class="trace-attributes">
        {shown.map(({ key, value }, index) => (
          <Attribute key={`${index} ${key}`} name={key} value={value} />
        ))}
      </dl>
      {attributes.length > shown.length && (
        <button type="button" class="button quiet" onClick={() => (all.value = true)}>
          Show all {formatCount(attributes.length)} attributes
        </button>
      )}
    </>
  );
}

/** JSON of this length at most is indented. */
const longestIndented = 20_000;

function Attribute({ name, value }: { readonly name: string; readonly value: KeyValue["value"] }) {
  const text = valueText(plainValue(value));
  const parsed = text.length <= longestIndented ? parsedJson(text) : text;
  return (
    <div class="trace-attribute">
      <dt class="foreign">{name.slice(0, 300)}</dt>
      <dd>
        <ClippedText text={typeof parsed === "object" ? valueText(parsed) : text} limit={400} />
        <CopyButton text={text} label={`Copy the value of ${name.slice(0, 100)}`} iconOnly />
      </dd>
    </div>
  );
}
