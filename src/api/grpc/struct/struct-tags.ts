// Tags (field number and wire type) of struct.proto.
export const FIELDS = 0x0a;
export const ENTRY_KEY = 0x0a;
export const ENTRY_VALUE = 0x12;
export const LIST_VALUES = 0x0a;
export const NULL_VALUE = 0x08;
export const NUMBER_VALUE = 0x11;
export const STRING_VALUE = 0x1a;
export const BOOL_VALUE = 0x20;
export const STRUCT_VALUE = 0x2a;
export const LIST_VALUE = 0x32;
