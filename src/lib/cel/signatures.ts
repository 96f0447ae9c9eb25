// The functions that an expression may call, with what they take and give. All others are refused at load.
import { BOOL, DOUBLE, DYN, INT, STRING, type CelKind, type CelType } from './cel-type.ts';

const NUMBER: readonly CelKind[] = ['int', 'double'];
const ORDERED: readonly CelKind[] = ['int', 'double', 'string', 'bool'];

export interface Signature {
  /** Kinds that each operand may have; the target of a method is the first. Undefined: any. */
  readonly takes: readonly (readonly CelKind[] | undefined)[];
  /** The operands have to be of one kind, numbers among themselves. */
  readonly alike?: 'exactly' | 'numbers';
  /** Left out: the kind of its operands. */
  readonly gives?: CelType;
  /** Takes as long as what it is given is large. */
  readonly isLinear?: true;
}

const compares: Signature = { takes: [ORDERED, ORDERED], alike: 'numbers', gives: BOOL, isLinear: true };
const equals: Signature = { takes: [undefined, undefined], alike: 'numbers', gives: BOOL, isLinear: true };
const calculates: Signature = { takes: [NUMBER, NUMBER], alike: 'exactly' };
const looksIn: Signature = { takes: [['string'], ['string']], gives: BOOL, isLinear: true };

export const OPERATORS: ReadonlyMap<string, Signature> = new Map<string, Signature>([
  ['_&&_', { takes: [['bool'], ['bool']], gives: BOOL }],
  ['_||_', { takes: [['bool'], ['bool']], gives: BOOL }],
  ['!_', { takes: [['bool']], gives: BOOL }],
  ['@not_strictly_false', { takes: [['bool']], gives: BOOL }],
  ['_==_', equals],
  ['_!=_', equals],
  ['_<_', compares],
  ['_<=_', compares],
  ['_>_', compares],
  ['_>=_', compares],
  [
    '_+_',
    {
      takes: [
        ['int', 'double', 'string'],
        ['int', 'double', 'string'],
      ],
      alike: 'exactly',
      isLinear: true,
    },
  ],
  ['_-_', calculates],
  ['_*_', calculates],
  ['_/_', calculates],
  ['_%_', { takes: [['int'], ['int']], gives: INT }],
  ['-_', { takes: [NUMBER] }],
  ['@in', { takes: [undefined, ['list', 'map']], gives: BOOL, isLinear: true }],
  ['_[_]', { takes: [['list', 'map'], undefined], gives: DYN }],
  ['_?_:_', { takes: [['bool'], undefined, undefined], gives: DYN }],
]);

export const METHODS: ReadonlyMap<string, Signature> = new Map<string, Signature>([
  ['size', { takes: [['string', 'list', 'map']], gives: INT, isLinear: true }],
  ['contains', looksIn],
  ['startsWith', looksIn],
  ['endsWith', looksIn],
  ['matches', looksIn],
]);

export const FUNCTIONS: ReadonlyMap<string, Signature> = new Map<string, Signature>([
  ['size', { takes: [['string', 'list', 'map']], gives: INT, isLinear: true }],
  ['int', { takes: [['int', 'double', 'string']], gives: INT, isLinear: true }],
  ['double', { takes: [['int', 'double', 'string']], gives: DOUBLE, isLinear: true }],
  ['string', { takes: [['int', 'double', 'string', 'bool']], gives: STRING, isLinear: true }],
]);
