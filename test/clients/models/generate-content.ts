// Gemini's generateContent, which gives ids to calls on some of its ways and none on others: here it gives none.
import type { ModelEvent, ModelProtocol } from './model-server.ts';
import {
  listOf,
  members,
  nextTurn,
  pieces,
  Refused,
  SCRIPT,
  textOf,
  type Told,
  type Turn,
} from './script.ts';

type Body = Readonly<Record<string, unknown>>;

export const generateContent: ModelProtocol = {
  tools: (body) => inCamelCase(body)['tools'],
  turn: (body) => turnOf(inCamelCase(body)),
  answer: (turn) => answerOf(partsOf(turn), 'STOP'),
  events,
};

/** JSON of protobuf may have either spelling: of tools, the Python SDK sends what it was given. */
function inCamelCase(body: Body): Body {
  const names = /"(function_declarations|parameters_json_schema|inline_data|mime_type|display_name)":/g;
  const text = JSON.stringify(body).replaceAll(names, (name) =>
    name.replaceAll(/_(\w)/g, (_all, letter: string) => letter.toUpperCase()),
  );
  return JSON.parse(text) as Body;
}

/** By their names: each of the script is called once. */
const IDS = new Map(SCRIPT.flatMap(({ calls }) => calls.map(({ id, name }) => [name, id] as const)));

function turnOf({ contents }: Body): Turn {
  const turns: string[][] = [];
  const told: Told[] = [];
  for (const [index, content] of listOf(contents, 'contents').entries()) {
    const at = `contents[${index}]`;
    const { role, parts } = members(content, at, 'role parts');
    const all = listOf(parts, `${at}.parts`) as readonly Body[];
    if (role === 'model') turns.push(all.flatMap(({ functionCall }) => idOf(functionCall, at)));
    else told.push(...all.flatMap(({ functionResponse }) => responseOf(functionResponse, at)));
  }
  return nextTurn(turns, told);
}

function idOf(call: unknown, at: string): readonly string[] {
  if (call === undefined) return [];
  const { name } = members(call, at, 'id name args');
  return [IDS.get(String(name)) ?? String(name)];
}

function responseOf(said: unknown, at: string): readonly Told[] {
  if (said === undefined) return [];
  const { name, response, parts = [] } = members(said, at, 'id name response parts');
  const { output, error } = members(response, `${at}.response`, 'output error');
  const images = listOf(parts, `${at}.parts`).map((part) => members(part, at, 'inlineData'));
  for (const { inlineData } of images) {
    const { mimeType, data } = members(inlineData, at, 'mimeType data displayName');
    if (mimeType !== 'image/png' || textOf(data, at) === '') throw new Refused(`${at}: ${String(mimeType)}`);
  }
  const value = error ?? output;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return [{ id: IDS.get(String(name)) ?? '', text, isError: error !== undefined, images: images.length }];
}

function partsOf({ text, calls }: Turn): readonly object[] {
  return [
    ...(text === '' ? [] : [{ text }]),
    ...calls.map(({ name, args }, index) => ({
      functionCall: { name, args },
      // Has to come back as it is.
      ...(index === 0 && { thoughtSignature: 'c2lnbmF0dXJl' }),
    })),
  ];
}

function answerOf(parts: readonly object[], finishReason?: string) {
  const candidate = { index: 0, content: { role: 'model', parts }, ...(finishReason && { finishReason }) };
  return {
    candidates: [candidate],
    modelVersion: 'gemini-3-test',
    responseId: 'r-1',
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  };
}

function events({ text, calls }: Turn): readonly ModelEvent[] {
  return [
    ...pieces(text).map((piece) => ({ data: answerOf([{ text: piece }]) })),
    ...partsOf({ text: '', calls }).map((part) => ({ data: answerOf([part]) })),
    { data: answerOf([{ text: '' }], 'STOP') },
  ];
}
