// A report that takes its time, and says how far it has come.
import { setTimeout as wait } from 'node:timers/promises';

export async function execute({ month, pages = 5 }, context) {
  for (let page = 1; page <= pages; page += 1) {
    await wait(200, undefined, { signal: context.signal });
    context.progress(page / pages, `page ${page} of ${pages}`);
  }
  return { month, pages, url: `https://reports.example/${month}.pdf` };
}
