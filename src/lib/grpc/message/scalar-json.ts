// Scalars from the wire, as JSON: integers of 64 bits are numbers where a double holds them, and else their digits.
import { ScalarType, type DescEnum } from '@bufbuild/protobuf';
import { WireType, type BinaryReader } from '@bufbuild/protobuf/wire';
import type { JsonValue } from '../../json/json-value.ts';

export type Scalar = string | number | boolean;

const READERS: { readonly [type in ScalarType]: (reader: BinaryReader) => Scalar } = {
  [ScalarType.STRING]: (reader) => reader.string(),
  [ScalarType.BOOL]: (reader) => reader.bool(),
  [ScalarType.DOUBLE]: (reader) => finite(reader.double()),
  [ScalarType.FLOAT]: (reader) => finite(shortest(reader.float())),
  [ScalarType.INT32]: (reader) => reader.int32(),
  [ScalarType.UINT32]: (reader) => reader.uint32(),
  [ScalarType.SINT32]: (reader) => reader.sint32(),
  [ScalarType.FIXED32]: (reader) => reader.fixed32(),
  [ScalarType.SFIXED32]: (reader) => reader.sfixed32(),
  [ScalarType.INT64]: (reader) => integer(reader.int64()),
  [ScalarType.UINT64]: (reader) => integer(reader.uint64()),
  [ScalarType.SINT64]: (reader) => integer(reader.sint64()),
  [ScalarType.FIXED64]: (reader) => integer(reader.fixed64()),
  [ScalarType.SFIXED64]: (reader) => integer(reader.sfixed64()),
  [ScalarType.BYTES]: (reader) => {
    const { buffer, byteOffset, byteLength } = reader.bytes();
    return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
  },
};

export function readScalar(reader: BinaryReader, type: ScalarType): Scalar {
  return READERS[type](reader);
}

/** A number that has no name stays one; the value of NullValue is null. */
export function enumName(desc: DescEnum, number: number): JsonValue {
  if (desc.typeName === 'google.protobuf.NullValue') return null;
  return Object.hasOwn(desc.value, number) ? (desc.value[number]?.name ?? number) : number;
}

/** How a scalar stands on the wire; lists of all but texts may be packed. */
export function wireTypeOf(type: ScalarType): WireType {
  return WIRE_TYPES.get(type) ?? WireType.Varint;
}

const WIRE_TYPES: ReadonlyMap<ScalarType, WireType> = new Map([
  [ScalarType.STRING, WireType.LengthDelimited],
  [ScalarType.BYTES, WireType.LengthDelimited],
  [ScalarType.DOUBLE, WireType.Bit64],
  [ScalarType.FIXED64, WireType.Bit64],
  [ScalarType.SFIXED64, WireType.Bit64],
  [ScalarType.FLOAT, WireType.Bit32],
  [ScalarType.FIXED32, WireType.Bit32],
  [ScalarType.SFIXED32, WireType.Bit32],
]);

/** What is meant where none came. */
export function emptyOf(type: ScalarType | undefined): Scalar {
  if (type === ScalarType.BOOL) return false;
  return type === ScalarType.STRING || type === ScalarType.BYTES ? '' : 0;
}

function integer(value: bigint | string): Scalar {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
}

function finite(value: number): Scalar {
  return Number.isFinite(value) ? value : String(value);
}

/** As few digits as tell a float apart: 0.1, and not the double that lies nearest to it. */
function shortest(value: number): number {
  if (!Number.isFinite(value) || Number.isInteger(value)) return value;
  for (let digits = 6; digits < 9; digits += 1) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return value;
}
