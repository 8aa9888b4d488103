/**
 * Reads the XML of S3's responses: elements, text, the five named entities and numeric ones. Attributes are skipped. Document types,
 * CDATA sections and processing instructions other than the declaration do not occur in S3's responses and are errors.
 */

export interface XmlElement {
  readonly name: string;
  readonly children: readonly XmlElement[];
  /** Empty if the element has children. */
  readonly text: string;
}

const maximumDepth = 16;
const token =
  /<\/(?<end>[\w:.-]+)\s*>|<(?<start>[\w:.-]+)(?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*\s*(?<empty>\/)?>|(?<text>[^<]+)/y;

interface OpenElement {
  name: string;
  children: XmlElement[];
  text: string;
}

/** The root element. @throws SyntaxError */
export function parseXml(source: string): XmlElement {
  const declared = /^\uFEFF?\s*(?:<\?xml[^<>]*\?>)?/.exec(source)![0].length;
  const root: OpenElement = { name: "", children: [], text: "" };
  const open = [root];
  token.lastIndex = declared;
  let at = declared;
  while (at < source.length) {
    token.lastIndex = at;
    const groups = token.exec(source)?.groups;
    if (groups === undefined) throw new SyntaxError(`The XML is invalid at character ${at}.`);
    at = token.lastIndex;
    const current = open.at(-1)!;
    const { empty, end, start, text } = groups;
    if (text !== undefined) current.text += text;
    else if (end !== undefined) {
      if (open.length === 1 || current.name !== end) throw new SyntaxError(`The XML has a wrong </${end}>.`);
      open.pop();
      open.at(-1)!.children.push(closed(current));
    } else if (empty !== undefined) current.children.push({ name: start!, children: [], text: "" });
    else {
      if (open.length > maximumDepth) throw new SyntaxError("The XML is nested too deeply.");
      open.push({ name: start!, children: [], text: "" });
    }
  }
  const [only] = root.children;
  if (open.length > 1 || root.children.length !== 1 || root.text.trim() !== "")
    throw new SyntaxError("The XML is truncated, or has more than one root element.");
  return only!;
}

function closed({ children, name, text }: OpenElement): XmlElement {
  return { name, children, text: children.length > 0 ? "" : decode(text) };
}

const named: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function decode(text: string): string {
  return text.replaceAll(
    /&(?:#x(?<hex>[0-9a-f]{1,6})|#(?<decimal>\d{1,7})|(?<name>\w+));/gi,
    (entity, hex, decimal, name) => {
      if (name !== undefined) return named[name as string] ?? entity;
      const point = hex === undefined ? Number(decimal) : Number.parseInt(hex as string, 16);
      return point <= 0x10_ff_ff ? String.fromCodePoint(point) : entity;
    },
  );
}

/** The text of the first child of this name. */
export function textOf(element: XmlElement, name: string): string | undefined {
  return element.children.find((child) => child.name === name)?.text;
}

export function childrenOf(element: XmlElement, name: string): readonly XmlElement[] {
  return element.children.filter((child) => child.name === name);
}
