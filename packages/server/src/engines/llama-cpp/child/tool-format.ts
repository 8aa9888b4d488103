/**
 * Derives a model's tool call syntax from its chat template: renders a sample call and takes the text before, between and
 * after its name and arguments.
 * docs/adr/0011-llama-cpp.md
 */
import { byteRange, choice, literal, nothing, optional, repeat, sequence, type Grammar } from "../grammar/grammar.ts";
import type { TemplateMessage } from "../protocol.ts";

export interface ToolFormat {
  /** From the beginning of the first call to the function's name. */
  readonly opening: string;
  /** From the name to the arguments. */
  readonly middle: string;
  /** From the last call's arguments to the end. */
  readonly closing: string;
  /** From one call's arguments to the next one's name; undefined if the template knows only one call. */
  readonly between: string | undefined;
}

type Render = (messages: readonly TemplateMessage[]) => string;

const probes = [
  { id: "abcdefghi", name: "sounding_probe_first" },
  { id: "jklmnopqr", name: "sounding_probe_second" },
] as const;
const probeArguments = '{"sounding_probe_key": "sounding_probe_value"}';
const probeArgumentsPattern = /\{\s*"sounding_probe_key"\s*:\s*"sounding_probe_value"\s*\}/g;
const probeContent = "sounding_probe_content";
const question: TemplateMessage = { role: "user", content: "sounding_probe_question" };

function calling(count: number): TemplateMessage[] {
  const calls = probes.slice(0, count).map(({ id, name }) => ({
    id,
    type: "function" as const,
    function: { name, arguments: probeArguments },
  }));
  return [question, { role: "assistant", content: "", tool_calls: calls }];
}

function commonPrefix(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return length;
}

function commonSuffix(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one.at(-1 - length) === other.at(-1 - length)) length++;
  return length;
}

/** Some templates repeat the call's ID after the arguments; a model cannot know it, so it is omitted. */
function withoutIds(text: string): string {
  return probes.reduce((rest, { id }) => rest.replace(new RegExp(`,?\\s*"id"\\s*:\\s*"${id}"`), ""), text);
}

/** Undefined if the template refuses the messages. */
function attempt(render: Render, messages: readonly TemplateMessage[]): string | undefined {
  try {
    return render(messages);
  } catch {
    return undefined;
  }
}

/** The way of writing tool calls; undefined if the template has none or not with JSON arguments behind the name. */
export function findToolFormat(render: Render): ToolFormat | undefined {
  const one = attempt(render, calling(1));
  const plain = attempt(render, [question, { role: "assistant", content: probeContent }]);
  if (one === undefined || plain === undefined) return undefined;
  const turnStart = plain.indexOf(probeContent);
  const turnEnd = plain.slice(turnStart + probeContent.length);
  const name = one.indexOf(probes[0].name);
  const [call] = [...one.matchAll(probeArgumentsPattern)];
  if (turnStart === -1 || name === -1 || call === undefined || call.index < name) return undefined;
  const start = Math.min(commonPrefix(one, plain.slice(0, turnStart)), name);
  const tail = one.slice(call.index + call[0].length);
  const two = attempt(render, calling(2));
  const [first] = two === undefined ? [] : [...two.matchAll(probeArgumentsPattern)];
  const second = two?.indexOf(probes[1].name) ?? -1;
  const between =
    two === undefined || first === undefined || second < first.index
      ? undefined
      : two.slice(first.index + first[0].length, second);
  return {
    opening: one.slice(start, name).trimStart(),
    middle: one.slice(name + probes[0].name.length, call.index),
    closing: withoutIds(tail.slice(0, tail.length - commonSuffix(tail, turnEnd))).trimEnd(),
    between: between === undefined ? undefined : withoutIds(between),
  };
}

/** What a tool call begins with, up to where spelling may vary: a marker such as `<tool_call>`, or the JSON itself. */
export function triggerOf({ opening }: ToolFormat): string {
  return /^(?:<[^>\s]+>|\[[A-Z_]+\]|\S+)/.exec(opening)?.[0] ?? "";
}

/** Whether calls have no marker, so that only JSON at the very beginning of an answer is one. */
export function isBareJson(trigger: string): boolean {
  return /^\[?\{/.test(trigger);
}

const gap = repeat(choice(byteRange(0x20, 0x20), byteRange(0x0a, 0x0a)), 0, 8);

/** The text, with any amount of white space where it has some. */
function loose(text: string): Grammar {
  const parts = text.split(/\s+/);
  return sequence(...parts.flatMap((part, index) => (index === 0 ? [literal(part)] : [gap, literal(part)])));
}

/** The text as a regular expression, with any amount of white space where it has some. */
export function loosePattern(text: string): string {
  return text
    .split(/\s+/)
    .map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`))
    .join(String.raw`\s*`);
}

/** The grammar of one or more calls. */
export function toolCallsGrammar(
  format: ToolFormat,
  tools: readonly { readonly name: string; readonly grammar: Grammar }[],
  parallel: boolean,
): Grammar {
  const call = choice(...tools.map(({ name, grammar }) => sequence(literal(name), loose(format.middle), grammar)));
  const more = parallel && format.between !== undefined ? repeat(sequence(loose(format.between), call), 0) : nothing;
  return sequence(optional(gap), loose(format.opening), call, more, loose(format.closing));
}
