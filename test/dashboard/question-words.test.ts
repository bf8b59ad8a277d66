import { expect, it } from 'vitest';
import { askedIn } from '../../dashboard/base/model.js';
import { questionInWords } from '../../dashboard/base/question-words.js';
import { shippedStudies } from '../support/shipped-answers.js';

it('asks every question of the shipped studies in a sentence', () => {
  const asked = shippedStudies.flatMap(({ document }) => askedIn(document).map((question) =>
    `${document.study}.${question.name}: ${questionInWords(document, question)}`
      .replaceAll('\u00a0', ' ')));
  expect(asked.join('\n')).toMatchInlineSnapshot(`
    "apps-nobody-listed.apps: How many people are there, for each app?
    apps-nobody-listed.long: How many people have rows in which minutes is at least 60, for each app?
    apps-nobody-listed.variety: How many different values of app are there?
    ballots-gaussian.answer: What are the means of first, second, third and 1 more, and how do they vary together?
    birdstrikes.species: How many people are there, for each species?
    birdstrikes.damage: What is the share of people with damaged: yes?
    birdstrikes.speeds: What is the median speed, for each phase?
    birdstrikes.costs: What is the total of cost, for each phase?
    commute-middle.answer: Where is the middle of minutes and kilometres?
    commute-questions.minutes: What is the mean of minutes?
    commute-questions.means: How many people are there, for each by?
    delay-distribution.answer: How are the values of delay minutes distributed?
    delay-histogram.answer: How many people are in each range of delay minutes?
    delay-mixture.answer: Which clusters do the values of delay minutes form?
    delay-quantiles.answer: What are the median delay minutes and delay minutes that 90 % of people are below?
    delay-shape.answer: Which of 5 shapes fits delay minutes best?
    delay-tails.answer: Which shape do the values of delay minutes and distance miles have?
    delay-total.answer: What is the total of delay minutes?
    flights-by-origin.origins: How many people are there, for each origin?
    flights-by-origin.delays: How are the values of delay distributed?
    flights-by-origin.usual: What is the mean of delay, for each time?
    flights-by-origin.minutes: What is the total of delay, for each day?
    flights-covariance.answer: How do delay minutes and distance miles vary together?
    flights-covariance-robust.answer: How do delay minutes and distance miles vary together?
    flights-gaussian.answer: What are the means of delay minutes and distance miles, and how do they vary together?
    flights-heavy-tailed.answer: What are the means of delay minutes and distance miles?
    flights-mean.answer: What are the means of delay minutes and distance miles?
    flights-mixture.answer: Which clusters do the values of delay minutes and distance miles form?
    flights-populous.answer: What are the means of delay minutes and distance miles?
    flights-prime.answer: What are the means of delay minutes and distance miles?
    flights-prime-heavy.answer: What are the means of delay minutes and distance miles?
    flights-robust.answer: What are the means of delay minutes and distance miles?
    flights-stable.answer: What are the means of delay minutes and distance miles?
    flights-stable-weights.answer: What are the means of delay minutes and distance miles?
    median-by-device.medians: What is the median minutes, for each device?
    members-survey.answer: What is the mean of hours of sport?
    monthly-survey.answer: What is the mean of minutes per day?
    movements-subspace.answer: Along which directions do arrivals, departures and movements vary most?
    people-by-country.people: How many people are there, for each country?
    people-count.answer: How many people have delay minutes of at least 60?
    riders-total.riders: How many people are there?
    riders-total.regions: How many people are there, for each region?
    rides-by-region.answer: How many people have each value of region?
    rides-questions.delays: What is the mean of minutes in rows in which late is yes?
    rides-questions.regions: How many people are there, for each region?
    rides-questions.time: What is the total of minutes in rows in which stops is at least 1?
    rides-questions.spread: How are the values of minutes distributed?
    sensors-resilient.answer: What are the means of celsius and percent?
    shape-without-bounds.answer: How do first, second and third vary together?
    survey-on-count.answer: What is the mean of rating?
    weather-by-place.days: How many people are there, for each city and sky?
    weather-by-place.warmth: What is the mean of warmest, for each sky?
    weather-by-place.medians: What is the median warmest, for each city?
    weather-by-place.rainfall: What is the total of rain, for each city?
    commute.answer: What are the means of minutes and kilometres?
    sleep-survey.answer: What are the means of sleep hours, coffee cups and wellbeing?"
  `);
});
