/**
 * Reads the promises of docs/reference/interface.md: every table row and every named list item, as `section/name`.
 * The page is the only list, so a promise cannot be tested without being documented, or documented without being tested.
 */

/** @throws Error on a list item or table row without a name, a name used twice, and a section without promises */
export function readPromises(page: string): Set<string> {
  const [, ...sections] = page.split(/^## /m);
  const names = sections.flatMap((section) => {
    const [heading = "", ...lines] = section.split("\n");
    const found = lines.flatMap((line, index) => {
      const isTableHead = isDelimiterRow(line) || isDelimiterRow(lines[index + 1]);
      return isTableHead || !/^[-|] /.test(line) ? [] : [`${toAnchor(heading)}/${toAnchor(nameOf(line))}`];
    });
    if (found.length === 0) throw new Error(`The section "${heading}" promises nothing.`);
    return found;
  });
  const repeated = names.filter((name, index) => names.indexOf(name) !== index);
  if (repeated.length > 0) throw new Error(`Names used twice: ${repeated.join(", ")}.`);
  return new Set(names);
}

const isDelimiterRow = (line = ""): boolean => line.startsWith("| -");

/** The bold words of a list item, or the code in a row's first cell. */
function nameOf(line: string): string {
  const name = /^- \*\*(?<name>[^*]+)\.\*\* \S|^\| `(?<field>[^`]+)` *\|/.exec(line)?.groups;
  const found = name?.["name"] ?? name?.["field"];
  if (found === undefined) throw new Error(`A promise without a name: ${line}`);
  return found;
}

function toAnchor(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9_.]+/g, "-")
    .replaceAll(/^-|-$/g, "");
}
