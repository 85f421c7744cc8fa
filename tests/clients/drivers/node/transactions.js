// Transactional producers, each by its name, from one operation to the next.
const producers = new Map()

async function openProducer(kafka, { producer, id, timeoutMs }) {
  const opened = kafka.producer({
    transactionalId: id,
    transactionTimeout: timeoutMs,
    idempotent: true,
    maxInFlightRequests: 1,
    retry: { retries: 5 },
  })
  await opened.connect()
  producers.set(producer, { opened, transaction: null })
}

async function begin(_, { producer }) {
  const one = producers.get(producer)
  one.transaction = await one.opened.transaction()
}

async function send(_, { producer, places, values }) {
  const byTopic = new Map()
  for (const [topic, partition] of places) {
    const messages = byTopic.get(topic) ?? []
    messages.push(...values.map(value => ({ partition, value })))
    byTopic.set(topic, messages)
  }
  const topicMessages = [...byTopic].map(([topic, messages]) => ({ topic, messages }))
  await producers.get(producer).transaction.sendBatch({ topicMessages })
}

async function sendOffset(_, { producer, group, topic, offset }) {
  const topics = [{ topic, partitions: [{ partition: 0, offset: String(offset) }] }]
  await producers.get(producer).transaction.sendOffsets({ consumerGroupId: group, topics })
}

const commit = async (_, { producer }) => producers.get(producer).transaction.commit()
const abort = async (_, { producer }) => producers.get(producer).transaction.abort()

async function closeProducer(_, { producer }) {
  const { opened } = producers.get(producer)
  producers.delete(producer)
  await opened.disconnect()
}

module.exports = {
  open_producer: openProducer,
  begin,
  send,
  send_offset: sendOffset,
  commit,
  abort,
  close_producer: closeProducer,
}
