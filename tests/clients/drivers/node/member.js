// A member of a group by KafkaJS: BOOTSTRAP GROUP TOPIC [SETTING=VALUE ...].
// It prints the partition and offset of each record.
require('./codecs')
const { Kafka, logLevel } = require('kafkajs')

const [bootstrap, groupId, topic, ...settings] = process.argv.slice(2)
const logCreator = () => entry => console.error(JSON.stringify(entry))
const kafka = new Kafka({ brokers: [bootstrap], logLevel: logLevel.WARN, logCreator })
const numbers = settings.map(one => one.split('=')).map(([name, value]) => [name, Number(value)])
const consumer = kafka.consumer({ groupId, ...Object.fromEntries(numbers) })

async function main() {
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await consumer.run({
    eachMessage: async ({ partition, message }) => {
      process.stdout.write(`${partition} ${message.offset}\n`)
    },
  })
}

// Once it runs, KafkaJS tries again by itself; until then it is up to its user.
const start = () => main().catch(error => {
  if (!error.retriable) throw error
  console.error(error)
  setTimeout(start, 500)
})

process.on('SIGTERM', () => consumer.disconnect().then(() => process.exit(0)))
start()
