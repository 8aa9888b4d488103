/** Reads amounts of money: `$3.50`, `£1.2M`, `5 €`, `USD 20`, `$20/month`, `$5-a-day`. */
import { isNumber, magnitudes, numberPattern, numberWords } from "./numbers.ts";
import { adjacent, one, together, type Reading, type Sentence } from "./tokens.ts";

interface Currency {
  readonly unit: string;
  readonly units: string;
  readonly part?: string;
  readonly parts?: string;
}

function dollars(country = ""): Currency {
  return { unit: `${country}dollar`, units: `${country}dollars`, part: "cent", parts: "cents" };
}

const pound: Currency = { unit: "pound", units: "pounds", part: "penny", parts: "pence" };
const euro: Currency = { unit: "euro", units: "euros", part: "cent", parts: "cents" };
const yen: Currency = { unit: "yen", units: "yen" };
const rupee: Currency = { unit: "rupee", units: "rupees", part: "paisa", parts: "paise" };

const symbols: Readonly<Record<string, Currency>> = {
  $: dollars(),
  US$: dollars("U-S "),
  A$: dollars("Australian "),
  AU$: dollars("Australian "),
  C$: dollars("Canadian "),
  CA$: dollars("Canadian "),
  HK$: dollars("Hong Kong "),
  NZ$: dollars("New Zealand "),
  "£": pound,
  "€": euro,
  "¥": yen,
  "₹": rupee,
  "₩": { unit: "won", units: "won" },
  "₽": { unit: "ruble", units: "rubles" },
  "₺": { unit: "lira", units: "lira" },
  "₪": { unit: "shekel", units: "shekels" },
  "₿": { unit: "bitcoin", units: "bitcoins" },
  "¢": { unit: "cent", units: "cents" },
};

const codes: Readonly<Record<string, Currency>> = {
  USD: dollars("U-S "),
  AUD: dollars("Australian "),
  CAD: dollars("Canadian "),
  GBP: pound,
  EUR: euro,
  JPY: yen,
  INR: rupee,
  CNY: { unit: "yuan", units: "yuan" },
  CHF: { unit: "Swiss franc", units: "Swiss francs" },
};

const symbol = String.raw`(?:US|AU?|CA?|HK|NZ)?\$|[£€¥₹₩₽₺₪₿¢]`;
const magnitude = String.raw`[kKmMbBtT]|[mbt]n|Bn|MM`;
const sign = "[-−–]?";
const before = new RegExp(
  `^(?<minus>${sign})(?<symbol>${symbol})(?<inner>${sign})(?<amount>${numberPattern}|\\d{1,3}(?:\\.\\d{3})*,\\d\\d)(?<scale>${magnitude})?(?:[-–](?:${symbol})?(?<upper>${numberPattern})(?<upperScale>${magnitude})?)?(?<more>\\+)?(?:/(?<per>[a-z]+))?$`,
);
const after = new RegExp(`^(?<amount>${numberPattern}|\\d{1,3}(?:\\.\\d{3})*,\\d\\d)(?<symbol>[£€¥₹₽₺₪¢])$`);

/** `$5-a-day` */
const compounds = new RegExp(
  `^(?<symbol>${symbol})(?<amount>${numberPattern})(?<scale>${magnitude})?-(?<more>[a-z]+(?:-[a-z]+)*)$`,
);

const periods: Readonly<Record<string, string>> = { mo: "month", yr: "year", hr: "hour", h: "hour", wk: "week" };

export function readMoney(sentence: Sentence, index: number): Reading | undefined {
  const { british, tokens } = sentence;
  const token = tokens[index]!;
  const found = before.exec(token.text)?.groups;
  if (found !== undefined) {
    const currency = symbols[found["symbol"]!]!;
    const word = adjacent(sentence, index)?.text ?? "";
    const follows =
      found["scale"] === undefined && found["per"] === undefined && /^(?:thousand|[mbtr]+illion|bn)$/.test(word);
    const amounts = [
      { number: found["amount"]!, scale: found["scale"] ?? (follows ? word : undefined) },
      ...(found["upper"] === undefined
        ? []
        : [{ number: found["upper"], scale: found["upperScale"] ?? (follows ? word : undefined) }]),
    ];
    const minus = found["minus"] !== "" || found["inner"] !== "" ? "minus " : "";
    const spoken = minus + range(amounts, currency, british);
    const per = found["per"] === undefined ? "" : ` per ${periods[found["per"]] ?? found["per"]}`;
    const more = found["more"] === undefined ? "" : " plus";
    return together(sentence, index, { count: follows ? 2 : 1, spoken: spoken + more + per });
  }
  const compound = compounds.exec(token.text)?.groups;
  if (compound !== undefined) {
    const number = { number: compound["amount"]!.replaceAll(",", ""), scale: compound["scale"] };
    const words = `${scaled(number, british)} ${symbols[compound["symbol"]!]!.unit}`;
    return one(token, `${words} ${compound["more"]!.replaceAll("-", " ")}`);
  }
  const closed = after.exec(token.text)?.groups;
  if (closed !== undefined)
    return one(token, amount({ number: closed["amount"]! }, symbols[closed["symbol"]!]!, british));
  const next = adjacent(sentence, index);
  if (next === undefined) return undefined;
  const code = codes[token.text];
  if (code !== undefined && isNumber(next.text)) {
    return together(sentence, index, { count: 2, spoken: amount({ number: next.text }, code, british) });
  }
  const currency = codes[next.text] ?? (next.text === "$" ? undefined : symbols[next.text]);
  if (currency === undefined || !(isNumber(token.text) || europeanDecimal.test(token.text))) return undefined;
  return together(sentence, index, { count: 2, spoken: amount({ number: token.text }, currency, british) });
}

interface Amount {
  readonly number: string;
  readonly scale?: string | undefined;
}

function range(amounts: readonly Amount[], currency: Currency, british: boolean): string {
  const [first, second] = amounts;
  if (second === undefined) return amount(first!, currency, british);
  const shared = { number: first!.number, scale: first!.scale === second.scale ? undefined : first!.scale };
  return `${scaled(shared, british)} to ${amount(second, currency, british)}`;
}

const europeanDecimal = /^\d{1,3}(?:\.\d{3})*,\d\d$/;

function amount(given: Amount, currency: Currency, british: boolean): string {
  const number = europeanDecimal.test(given.number)
    ? given.number.replaceAll(".", "").replace(",", ".")
    : given.number.replaceAll(",", "");
  const [whole = "", decimals] = number.split(".");
  if (given.scale === undefined && decimals?.length === 2 && currency.part !== undefined) {
    const units = `${numberWords(whole === "" ? "0" : whole, british)} ${whole === "1" ? currency.unit : currency.units}`;
    const cents = Number(decimals);
    const parts = `${numberWords(String(cents))} ${cents === 1 ? currency.part : currency.parts!}`;
    if (cents === 0) return units;
    return Number(whole) === 0 ? parts : `${units} and ${parts}`;
  }
  const isOne = number === "1" && given.scale === undefined;
  return `${scaled({ number, scale: given.scale }, british)} ${isOne ? currency.unit : currency.units}`;
}

function scaled({ number, scale }: Amount, british: boolean): string {
  const words = numberWords(number, british);
  return scale === undefined ? words : `${words} ${magnitudes[scale] ?? scale}`;
}
