// KafkaJS's client of schema registries: `driver.js URL SUBJECT BASE64`. It decodes the value, whose schema
// another client has registered, registers schemas of each kind itself, and prints what it got back.
const { SchemaRegistry, SchemaType } = require('@kafkajs/confluent-schema-registry')

const [url, subject, value] = process.argv.slice(2)
const ORDER = { id: 7, customer: 'Grüße' }
const SCHEMAS = [
  [
    SchemaType.AVRO,
    JSON.stringify({
      type: 'record',
      name: 'Order',
      namespace: 'shop',
      fields: [{ name: 'id', type: 'long' }, { name: 'customer', type: 'string' }],
    }),
  ],
  [
    SchemaType.JSON,
    JSON.stringify({ type: 'object', properties: { id: { type: 'integer' }, customer: { type: 'string' } } }),
  ],
  [SchemaType.PROTOBUF, 'syntax = "proto3"; message Order { int32 id = 1; string customer = 2; }'],
]

async function main() {
  const registry = new SchemaRegistry({ host: url })
  const told = { decoded: await registry.decode(Buffer.from(value, 'base64')), written: {} }
  for (const [type, schema] of SCHEMAS) {
    const name = `${subject}-${type}`
    const { id } = await registry.register({ type, schema }, { subject: name })
    const encoded = await registry.encode(id, ORDER)
    const again = new SchemaRegistry({ host: url })
    told.written[type] = {
      id,
      latest: await again.getLatestSchemaId(name),
      found: await again.getRegistryIdBySchema(name, { type, schema }),
      value: encoded.toString('base64'),
      decoded: await again.decode(encoded),
    }
  }
  try {
    const schema = SCHEMAS[0][1].replace('"long"', '"string"')
    await registry.register({ type: SchemaType.AVRO, schema }, { subject: `${subject}-AVRO` })
  } catch (error) {
    told.refused = error.message
  }
  console.log(JSON.stringify(told))
}

main().catch((error) => {
  console.error(error)
  process.exit(1)
})
