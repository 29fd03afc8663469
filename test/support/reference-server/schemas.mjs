const title = (value, label) => ({ const: value, title: label })

export const NOTHING = { type: 'object', properties: {} }

/** A form with a default in each kind of field. */
export const DEFAULTS_FORM = {
  type: 'object',
  properties: {
    name: { type: 'string', description: 'User name', default: 'John Doe' },
    age: { type: 'integer', description: 'User age', default: 30 },
    score: { type: 'number', description: 'User score', default: 95.5 },
    status: { type: 'string', description: 'User status', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', description: 'Verification status', default: true },
  },
  required: [],
}

const TITLED = [title('value1', 'First Option'), title('value2', 'Second Option'), title('value3', 'Third Option')]

/** A form with each kind of choice. */
export const CHOICES_FORM = {
  type: 'object',
  properties: {
    untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
    titledSingle: { type: 'string', oneOf: TITLED },
    legacyEnum: {
      type: 'string',
      enum: ['opt1', 'opt2', 'opt3'],
      enumNames: ['Option One', 'Option Two', 'Option Three'],
    },
    untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
    titledMulti: { type: 'array', items: { anyOf: TITLED } },
  },
  required: [],
}

export const USER_FORM = {
  type: 'object',
  properties: {
    username: { type: 'string', description: "User's response" },
    email: { type: 'string', description: "User's email address" },
  },
  required: ['username', 'email'],
}

/** Keywords that a proxy which understands only part of JSON Schema would lose. */
export const SCHEMA_2020_12 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: { address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
  properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
  additionalProperties: false,
}

/** A recursive schema with old and private keywords. */
export const DEEP_SCHEMA = {
  type: 'object',
  definitions: { node: { type: 'object', properties: { next: { $ref: '#/definitions/node' }, any: true, none: false } } },
  properties: { root: { $ref: '#/definitions/node' }, bound: { type: 'number', minimum: 0, exclusiveMinimum: true } },
  'x-private': { kept: [null, 0, ''] },
}
