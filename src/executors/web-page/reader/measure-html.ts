// How large a document HTML becomes: counted in one pass that builds nothing, before anything is built.
import { Parser } from 'htmlparser2';

/** As deep as browsers nest. Work on a tree that is deeper takes the square of its depth, or the whole stack. */
const MOST_LEVELS = 512;
const MOST_ELEMENTS = 20_000;
const MOST_ATTRIBUTES = 200;
/** After each of them it is looked whether to go on. */
const CHUNK = 65_536;

/** True: it can be built and read as a tree. */
export function isTreeSized(html: string): boolean {
  const most = { levels: 0, elements: 0, attributes: 0 };
  let levels = 0;
  const parser = new Parser({
    onopentag(_name, attributes) {
      levels += 1;
      most.elements += 1;
      most.levels = Math.max(most.levels, levels);
      most.attributes = Math.max(most.attributes, Object.keys(attributes).length);
    },
    onclosetag() {
      levels -= 1;
    },
  });
  for (let at = 0; at < html.length; at += CHUNK) {
    parser.write(html.slice(at, at + CHUNK));
    if (!fits(most)) return false;
  }
  return true;
}

function fits(most: {
  readonly levels: number;
  readonly elements: number;
  readonly attributes: number;
}): boolean {
  return most.levels <= MOST_LEVELS && most.elements <= MOST_ELEMENTS && most.attributes <= MOST_ATTRIBUTES;
}
