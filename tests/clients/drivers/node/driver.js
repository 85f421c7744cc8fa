// KafkaJS: a line of JSON in is an operation, a line out is its result.
const readline = require('readline')
const { Kafka, logLevel } = require('kafkajs')
const { produce } = require('./produce')
const { consume, consumeInGroup } = require('./consume')
const admin = require('./admin')
const transactions = require('./transactions')

const PATIENCE_MS = 30000
const operations = {
  produce,
  consume,
  consume_in_group: consumeInGroup,
  create_topic: admin.createTopic,
  delete_topic: admin.deleteTopic,
  add_partitions: admin.addPartitions,
  own_configs: admin.ownConfigs,
  alter_configs: admin.alterConfigs,
  delete_records: admin.deleteRecords,
  describe: admin.describe,
  ...transactions,
}
// Logs go to stderr: stdout belongs to the answers.
const logCreator = () => entry => console.error(JSON.stringify(entry))
// For brokers that ask who a client is.
const security = JSON.parse(process.env.CLIENT_SECURITY ?? '{}')
const kafka = new Kafka({
  brokers: [process.argv[2]], logLevel: logLevel.WARN, logCreator, ...security,
})

async function answerTo(asked) {
  let timer
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${asked.op} took too long`)), PATIENCE_MS)
  })
  try {
    return { ok: (await Promise.race([operations[asked.op](kafka, asked), late])) ?? null }
  } catch (failure) {
    return { error: `${failure.name}: ${failure.message}` }
  } finally {
    clearTimeout(timer)
  }
}

async function main() {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    process.stdout.write(JSON.stringify(await answerTo(JSON.parse(line))) + '\n')
  }
  // An operation that took too long may still hold sockets open.
  process.exit(0)
}

main()
