// A memory in TypeScript: events with most words of the query first. JSON lines on stdin and stdout.
declare const process: { stdin: NodeJS; stdout: { write(text: string): void }; exit(): never };
declare function require(name: string): any;
interface NodeJS { on(event: string, listener: (data: string) => void): void }
interface Event { id: string; text: string }
type Request =
  | ({ op: "write" } & Event)
  | { op: "retrieve"; query: string; limit: number }
  | { op: "reset" }
  | { op: "close" };

let events: Event[] = [];
const words = (text: string): Set<string> => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);

function search(query: string, limit: number): (Event & { score: number })[] {
  const wanted = words(query);
  return events
    .map(({ id, text }) => ({ id, text, score: [...words(text)].filter((w) => wanted.has(w)).length }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, limit);
}

function answer(request: Request): object {
  switch (request.op) {
    case "write":
      events.push({ id: request.id, text: request.text });
      return { ok: true };
    case "retrieve":
      return { items: search(request.query, request.limit) };
    case "reset":
      events = [];
      return { ok: true };
    case "close":
      return process.exit();
  }
}

require("readline")
  .createInterface({ input: process.stdin })
  .on("line", (line: string) => process.stdout.write(JSON.stringify(answer(JSON.parse(line))) + "\n"));
