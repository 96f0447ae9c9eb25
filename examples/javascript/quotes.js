// quotes: prices in another currency, through another tool, with progress on the way.
// @ts-check

const PRICES = { desk: 240, chair: 95, lamp: 30 };
const RATES = { EUR: 1, USD: 1.08, GBP: 0.86 };

/** @type {import('../../tools/handlers/handler.d.ts').Handler<{ currency: keyof typeof RATES }>} */
export function exchange_rate({ currency }) {
  return { currency, rate: RATES[currency] };
}

/** @type {import('../../tools/handlers/handler.d.ts').Handler<{ items: (keyof typeof PRICES)[], currency: string }>} */
export async function quote({ items, currency }, { callTool, logger, partial, progress, signal }) {
  const { rate } = /** @type {{ rate: number }} */ (await callTool('exchange_rate', { currency }));
  let total = 0;
  for (const [index, item] of items.entries()) {
    signal.throwIfAborted();
    const price = Math.round(PRICES[item] * rate * 100) / 100;
    total += price;
    partial({ item, price });
    progress((index + 1) / items.length, item);
  }
  logger.info(`quoted ${items.length} items`);
  return { currency, total: Math.round(total * 100) / 100 };
}

/** @type {import('../../tools/handlers/handler.d.ts').Handler<{ text: string }>} */
export function count_vowels({ text }) {
  console.log(`counting in ${text.length} characters`);
  return { vowels: text.match(/[aeiou]/gi)?.length ?? 0 };
}

/** A mistake: some numbers never get to 1 here. It costs a thread and no more. */
export function stuck({ n }) {
  while (n !== 1) n = n % 2 === 0 ? n / 2 : n + 2;
  return n;
}
