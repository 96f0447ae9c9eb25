// One piece, the text of one tool, into its value: or what is wrong with it, or that it cannot be understood alone.
import { isAlias, isSeq, visit, type Document } from 'yaml';
import type { Problem } from '../../contract/tool/loaded-tools.ts';
import { parseYaml, yamlProblems, type YamlText } from '../../lib/tools-yaml/yaml-text.ts';
import type { Piece } from './split-tools.ts';

export type ParsedPiece =
  | { readonly value: unknown }
  | { readonly problems: readonly Problem[] }
  | 'needs-whole';

/** What may be an anchor, an alias or a tag: worth a look at the nodes. */
const MAY_REFER = /[\s[{,:][&*!]/;

export function parsePiece(file: string, piece: Piece): ParsedPiece {
  const document = parseYaml(piece.text);
  const problems = yamlProblems(pieceText(file, piece), document);
  if (problems.length > 0) return { problems };
  if (!isSeq(document.contents) || document.contents.items.length !== 1) return 'needs-whole';
  if (MAY_REFER.test(piece.text) && hasReferences(document)) return 'needs-whole';
  try {
    const values = document.toJS() as readonly unknown[];
    return { value: values[0] };
  } catch {
    // A merge key with nothing to merge.
    return 'needs-whole';
  }
}

function hasReferences(document: Document.Parsed): boolean {
  let found = false;
  visit(document, {
    Node(_key, node) {
      found = isAlias(node) || node.anchor !== undefined || node.tag !== undefined;
      return found ? visit.BREAK : undefined;
    },
  });
  return found;
}

export function pieceText(file: string, { text, linesBefore }: Piece): YamlText {
  return { file, text, lineOf: (line) => line + linesBefore };
}
