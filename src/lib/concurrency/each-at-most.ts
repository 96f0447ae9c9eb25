// The same work for each item of a list, several at a time.

/** Begun in the order of the items, no more than `most` under way; the results are in that order. Rejects as the first that does. */
export async function eachAtMost<Item, Result>(
  most: number,
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  const waiting = items.entries();
  async function worker(): Promise<void> {
    for (const [index, item] of waiting) results[index] = await work(item, index);
  }
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker));
  return results;
}
