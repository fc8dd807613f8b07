// Reads vCards from standard input with the judge that the first argument names, and prints what
// it found: for each card, the property names with their values as text.
import { readFileSync } from "node:fs";

const text = readFileSync(0, "utf8");

async function icalJs() {
  const ICAL = (await import("ical.js")).default;
  const parsed = ICAL.parse(text);
  const cards = Array.isArray(parsed[0]) ? parsed : [parsed];
  return cards.map(([, properties]) =>
    properties.map(([name, , , ...values]) => [name, values.flat(2).map(String)]),
  );
}

async function vcard4() {
  const { parse } = await import("vcard4");
  const parsed = parse(text);
  const cards = Array.isArray(parsed) ? parsed : [parsed];
  return cards.map((card) =>
    card.parsedVcard.map(({ property, value }) => [
      property.toLowerCase(),
      typeof value === "string" ? [value] : Object.values(value).flat().map(String),
    ]),
  );
}

const judges = { "ical.js": icalJs, vcard4 };
process.stdout.write(JSON.stringify(await judges[process.argv[2]]()));
