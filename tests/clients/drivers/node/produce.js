const codecs = require('./codecs')
const { unpack, unpackHeaders } = require('./records')

const toMessage = partition => record => ({
  key: unpack(record.key),
  value: unpack(record.value),
  headers: unpackHeaders(record.headers),
  ...(record.timestamp === null ? {} : { timestamp: String(record.timestamp) }),
  ...(partition === null ? {} : { partition }),
})

async function produce(kafka, { topic, partition, codec, records }) {
  const producer = kafka.producer()
  await producer.connect()
  try {
    const messages = records.map(toMessage(partition))
    const sent = await producer.send({ topic, messages, compression: codecs[codec] })
    return offsets(sent, records.length)
  } finally {
    await producer.disconnect()
  }
}

// KafkaJS tells the base offset of each partition; only one partition tells the order as well.
function offsets(sent, count) {
  if (sent.length !== 1) return []
  return Array.from({ length: count }, (_, index) => Number(sent[0].baseOffset) + index)
}

module.exports = { produce }
